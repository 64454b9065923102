// The process groups that a runner has started and not yet seen end, kept where the next owner finds them.
//
//   boot ID                     what follows was written since this boot
//   + GROUP START "WORK DIR"    about to start a command; START is ? where the system does not tell
//   - GROUP                     it has ended, and nothing of it runs
//
// Nothing is synced: after a power cut nothing runs either. A line cut short by a crash belongs to a command
// that was not started, since each waits for its line.

import { closeSync, ftruncateSync, mkdirSync, openSync, readFileSync, writeSync } from 'node:fs';
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
  ended(id: number): void;
  close(): void;
}

/** Emptied beyond this size, at the next moment when nothing runs. */
const ROOMY_BYTES = 64 * 1024;

/** Only the owner of `.sluice/` may write it, after `endLeftovers`. */
export function openJournal(file: string): Journal {
  mkdirSync(dirname(file), { recursive: true });
  const fd = openSync(file, 'a', 0o600);
  const header = `boot ${bootId()}\n`;
  const running = new Set<number>();
  let bytes = writeSync(fd, header);
  return {
    started({ id, startTime, workDir }) {
      running.add(id);
      bytes += writeSync(fd, `+ ${id} ${startTime ?? '?'} ${JSON.stringify(workDir)}\n`);
    },
    ended(id) {
      running.delete(id);
      bytes += writeSync(fd, `- ${id}\n`);
      if (bytes < ROOMY_BYTES || running.size > 0) return;
      ftruncateSync(fd);
      bytes = writeSync(fd, header);
    },
    close: () => closeSync(fd),
  };
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
