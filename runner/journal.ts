// What a runner has begun and not yet seen end, kept where the next owner finds it: process groups, and outputs that
// are being made beside their place.
//
//   boot ID                     what follows was written since this boot
//   + GROUP START "WORK DIR"    about to start a command; START is ? where the system does not tell
//   - GROUP                     nothing of the group runs any more; one group may serve many commands before that
//   > ["PATH", …]               about to make these; once they are renamed or removed nothing is written
//
// Nothing is synced: after a power cut nothing runs either. A line cut short by a crash belongs to a command
// that was not started, since each waits for its line.

import { closeSync, fstatSync, ftruncateSync, mkdirSync, openSync, readFileSync, writeSync } from 'node:fs';
import { dirname } from 'node:path';
import { bootId } from './platform.ts';

export interface Group {
  /** Also the pid of its leader. */
  readonly id: number;
  readonly startTime: string | null;
  readonly workDir: string;
}

export interface Journal {
  started(group: Group): void;
  /** Its command has ended; the group waits for the next. */
  ended(id: number): void;
  gone(id: number): void;
  /** Hidden files that are of no use to anybody if we die; the function is to be called when they are gone. */
  making(paths: readonly string[]): () => void;
  close(): void;
}

/** Written anew beyond this size, at the next moment when nothing runs. */
const ROOMY_BYTES = 64 * 1024;

/** Only the owner of `.sluice/` may write it, after `endLeftovers`. */
export function openJournal(file: string): Journal {
  mkdirSync(dirname(file), { recursive: true });
  const fd = openSync(file, 'a', 0o600);
  const header = `boot ${bootId()}\n`;
  const groups = new Map<number, Group>();
  const running = new Set<number>();
  let making = 0;
  const hadNothing = fstatSync(fd).size <= header.length;
  let bytes = writeSync(fd, header);
  const emptyIf = (isRoomy: boolean) => {
    if (!isRoomy || running.size > 0 || making > 0) return;
    ftruncateSync(fd);
    bytes = writeSync(fd, header + [...groups.values()].map(lineOf).join(''));
  };
  return {
    started(group) {
      running.add(group.id);
      groups.set(group.id, group);
      bytes += writeSync(fd, lineOf(group));
    },
    ended(id) {
      running.delete(id);
      emptyIf(bytes >= ROOMY_BYTES);
    },
    gone(id) {
      running.delete(id);
      groups.delete(id);
      bytes += writeSync(fd, `- ${id}\n`);
      emptyIf(bytes >= ROOMY_BYTES);
    },
    making(paths) {
      if (paths.length === 0) return () => {};
      making += 1;
      bytes += writeSync(fd, `> ${JSON.stringify(paths)}\n`);
      return () => {
        making -= 1;
        emptyIf(bytes >= ROOMY_BYTES);
      };
    },
    close() {
      // What an earlier owner wrote is only for `endLeftovers` to remove.
      emptyIf(hadNothing);
      closeSync(fd);
    },
  };
}

function lineOf({ id, startTime, workDir }: Group): string {
  return `+ ${id} ${startTime ?? '?'} ${JSON.stringify(workDir)}\n`;
}

/** Those started since this boot and not seen to end; none if there is no journal. */
export function unendedIn(file: string): readonly Group[] {
  const unended = new Map<number, Group>();
  const now = bootId();
  let isThisBoot = false;
  for (const line of wholeLinesOf(file)) {
    const [, sign, id, startTime, workDir] = LINE.exec(line) ?? [];
    if (line.startsWith('boot ')) isThisBoot = line.slice(5) === now;
    else if (sign === '-') unended.delete(Number(id));
    else if (sign === '+' && isThisBoot) unended.set(Number(id), groupOf(id!, startTime!, workDir!));
  }
  return [...unended.values()];
}

/** Those that were begun, whether or not anything is left of them. */
export function besideIn(file: string): readonly string[] {
  return wholeLinesOf(file).flatMap((line) => (line.startsWith('> ') ? pathsOf(line.slice(2)) : []));
}

/** A disk that was full may have cut a line short, and the next then goes on in it. */
function pathsOf(text: string): readonly string[] {
  try {
    const paths: unknown = JSON.parse(text);
    return Array.isArray(paths) ? paths.filter((path) => typeof path === 'string') : [];
  } catch {
    return [];
  }
}

const LINE = /^([+-]) (\d+)(?: (\d+|\?) (".*"))?$/;

function groupOf(id: string, startTime: string, workDir: string): Group {
  return {
    id: Number(id),
    startTime: startTime === '?' ? null : startTime,
    workDir: JSON.parse(workDir) as string,
  };
}

function wholeLinesOf(file: string): readonly string[] {
  try {
    return readFileSync(file, 'utf8').split('\n').slice(0, -1);
  } catch (error) {
    if ((error as NodeJS.ErrnoException).code === 'ENOENT') return [];
    throw error;
  }
}
