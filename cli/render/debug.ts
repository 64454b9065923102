// What a command left behind, as a person reads it, with the line that runs it again by hand.

import { join } from 'node:path';
import { FILES } from '../../runner/launch-script.ts';
import { shown } from '../../schema/diagnostic.ts';
import type { Io } from '../command.ts';
import type { WorkLeft } from '../work-dirs.ts';
import { paint } from './output.ts';

export interface DebugReport extends WorkLeft {
  readonly workflow: string;
  readonly stage: string;
  readonly entity: string;
  readonly name: string;
  /** Where the command ran. */
  readonly cwd: string;
}

const MOST_LINES = 40;

export function renderDebug(report: DebugReport, io: Io, json: boolean): string {
  const { workflow, stage, entity, workDir, command, exitCode, stdout, stderr } = report;
  const rerun = rerunLine(report);
  if (json) {
    const document = {
      ...{ workflow, stage, entity, work_dir: workDir, command, exit_code: exitCode, stdout, stderr, rerun },
    };
    return `${JSON.stringify(document, null, 2)}\n`;
  }
  const how = exitCode === null ? 'it did not end by itself' : `exit code ${exitCode}`;
  const parts = [
    `${paint(io, 'bold', report.name)}  ${paint(io, exitCode === 0 ? 'green' : 'red', how)}`,
    `work directory: ${shown(workDir)}`,
    section('command', command ?? '(none was written down)', io),
    section('stdout', stdout, io),
    section('stderr', stderr, io),
    ...(rerun === null ? [] : [`${paint(io, 'cyan', '→')} to run it by hand:\n    ${rerun}`]),
  ];
  return `${parts.join('\n')}\n`;
}

/** As the runner does it, less the clean environment. */
function rerunLine({ command, cwd, workDir }: DebugReport): string | null {
  if (command === null) return null;
  const set = `SLUICE_WORK_DIR=${quoted(workDir)} TMPDIR=${quoted(workDir)}`;
  return `(cd ${quoted(cwd)} && ${set} sh -e ${quoted(join(workDir, FILES.script))})`;
}

function section(title: string, text: string, io: Io): string {
  return `${paint(io, 'dim', `${title}:`)}${text.trim() === '' ? ' (empty)' : `\n${indented(text)}`}`;
}

export function indented(text: string, most = MOST_LINES): string {
  const lines = text.replace(/\n+$/, '').split('\n');
  const last = lines.slice(-most).map((line) => `    ${shown(line.replaceAll('\t', '  '))}`);
  return [...(lines.length > most ? [`    … ${lines.length - most} lines before`] : []), ...last].join('\n');
}

export function quoted(text: string): string {
  return /^[\w@%+=:,./-]+$/.test(text) ? text : `'${text.replaceAll("'", "'\\''")}'`;
}
