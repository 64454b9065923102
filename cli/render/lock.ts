// What a check of the lock file looks like (§5.4.3 of the playbook design), and what was taken into it.

import { shortHash } from '../../schema/blake3.ts';
import { shown } from '../../schema/diagnostic.ts';
import type { Blake3 } from '../../schema/words.ts';
import type { Io } from '../command.ts';
import type { Adopted } from '../lock/adopt.ts';
import type { VerifiedOut, VerifiedStage } from '../lock/verify.ts';
import { quoted } from './debug.ts';
import { paint } from './output.ts';

interface VerifyReport {
  readonly name: string;
  /** As the person named it, for the next command. */
  readonly file: string;
  readonly stages: readonly VerifiedStage[];
}

/** Of one stage, and of the files in one directory. */
const MOST_SHOWN = 20;

export function renderVerified({ name, file, stages }: VerifyReport, io: Io, json: boolean): string {
  const bad = stages.filter(({ outs }) => outs.some(({ ok }) => !ok));
  if (json) {
    const told = stages.map(({ stage, isLocked, outs }) => ({ stage, locked: isLocked, outs }));
    return `${JSON.stringify({ workflow: name, verified: bad.length === 0, stages: told }, null, 2)}\n`;
  }
  const lines = stages.flatMap((stage, i) =>
    stageLines(stage, { at: `[${i + 1}/${stages.length}]`, file, io }),
  );
  const locked = stages.filter(({ isLocked }) => isLocked).length;
  const end =
    bad.length > 0
      ? `${paint(io, 'red', '✗')} Not as in the lock file: ${bad.length} of ${counted(locked)}.`
      : `${paint(io, 'green', '✓')} All outputs of ${counted(locked)} verified.`;
  return `${[...lines, end].join('\n')}\n`;
}

function counted(stages: number): string {
  return stages === 1 ? '1 stage' : `${stages} stages`;
}

interface Around {
  readonly at: string;
  readonly file: string;
  readonly io: Io;
}

function stageLines({ stage, isLocked, outs }: VerifiedStage, { at, file, io }: Around): string[] {
  if (!isLocked) return [`${at} ${shown(stage)}: ${paint(io, 'yellow', 'not in the lock file')}`];
  if (outs.length === 0) return [`${at} ${shown(stage)}: no outputs`];
  const bad = outs.filter(({ ok }) => !ok);
  const only = outs.length === 1 ? outs[0]! : null;
  const title = `${at} ${shown(stage)}: ${only === null ? `${outs.length} outputs` : shown(only.path)}`;
  if (only?.ok) return [title, hashLine(only, io)];
  if (bad.length === 0) return [`${title}  ${paint(io, 'green', '✓')}`];
  const told = bad.slice(0, MOST_SHOWN).flatMap((out) => outLines(out, only === null, io));
  const more = bad.length - MOST_SHOWN;
  const files = bad.reduce((sum, out) => sum + Math.max(1, out.files?.length ?? 1), 0);
  const differ = files === 1 ? '1 file differs' : `${files} files differ`;
  return [
    title,
    ...told,
    ...(more > 0 ? [`      … and ${more} more`] : []),
    `      ${paint(io, 'cyan', '→')} ${differ}. To make it again: sluice run ${quoted(file)} --stage ${quoted(stage)} --force`,
  ];
}

function outLines(out: VerifiedOut, isNamed: boolean, io: Io): string[] {
  const files = (out.files ?? [])
    .slice(0, MOST_SHOWN)
    .map(
      ({ path, change }) => `        ${change.padEnd(7)}  ${shown(`${out.path.replace(/\/$/, '')}/${path}`)}`,
    );
  const more = (out.files?.length ?? 0) - MOST_SHOWN;
  return [
    ...(isNamed ? [`      ${shown(out.path)}`] : []),
    hashLine(out, io),
    ...files,
    ...(more > 0 ? [`        … and ${more} more`] : []),
    ...(out.sizes === null ? [] : [`        ${out.sizes}; which files differ is not known here`]),
  ];
}

function hashLine({ lock, local, ok, trouble }: VerifiedOut, io: Io): string {
  const there = local === null ? (trouble === null ? 'missing' : shown(trouble)) : shortHash(local as Blake3);
  const mark = ok ? paint(io, 'green', '✓') : paint(io, 'red', '✗ MISMATCH');
  return `      lock: ${shortHash(lock as Blake3)}  local: ${there}  ${mark}`;
}

interface AdoptReport extends Adopted {
  readonly name: string;
  readonly lockFile: string;
  /** The workflow wants no lock file. */
  readonly isOff: boolean;
}

export function renderAdopted(report: AdoptReport, io: Io, json: boolean): string {
  const { name, lockFile, isOff, adopted, notAdopted, locked, isWritten } = report;
  if (json) {
    const document = {
      ...{ workflow: name, lock_file: isOff ? null : lockFile, written: isWritten },
      ...{ locked, adopted, not_adopted: notAdopted },
    };
    return `${JSON.stringify(document, null, 2)}\n`;
  }
  const few = adopted
    .slice(0, MOST_SHOWN)
    .map((each) => `${paint(io, 'green', '✓')} ${each}  adopted as it is`);
  const left = notAdopted
    .slice(0, MOST_SHOWN)
    .map(({ name: each, because }) => `${paint(io, 'yellow', '–')} ${each}  ${shown(because)}`);
  const more = Math.max(0, adopted.length - MOST_SHOWN) + Math.max(0, notAdopted.length - MOST_SHOWN);
  const where = isOff
    ? 'policy.lock_file is false, so no file was written'
    : `${shown(lockFile)} ${isWritten ? 'was written' : 'is up to date'}`;
  const sum = `${shown(name)}: ${adopted.length} adopted, ${locked} in the lock file, ${notAdopted.length} not; ${where}`;
  return `${[...few, ...left, ...(more > 0 ? [`… and ${more} more`] : []), sum].join('\n')}\n`;
}
