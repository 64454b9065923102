// What a person reads of a state that failed: how it ended, its command, the last lines it said, and the next step.

import { shown } from '../../schema/diagnostic.ts';
import { quoted } from '../render/debug.ts';
import type { WorkLeft } from '../work-dirs.ts';
import type { StateResult } from './results.ts';

const MOST_COMMAND = 12;
const MOST_OUTPUT = 12;

export interface FailureContext {
  /** As the person named the workflow file. */
  readonly file: string;
  readonly workOf: (stage: string, entity: string) => WorkLeft | null;
}

/** The result with an error that tells more; only for what failed with a command. */
export function withFailureText(result: StateResult, { file, workOf }: FailureContext): StateResult {
  if (result.status !== 'failed' || result.error === null) return result;
  const work = workOf(result.stage, result.entity);
  if (work === null) return result;
  const how = result.error.split('\n')[0]!;
  const state = result.entity === '' ? result.stage : `${result.stage}@${result.entity}`;
  const lines = [
    how,
    ...(work.command === null ? [] : section('command', work.command, MOST_COMMAND, 'first')),
    ...outputOf(work),
    `→ sluice debug ${quoted(file)} --stage ${quoted(shown(state))}`,
  ];
  return { ...result, error: lines.join('\n') };
}

/** What it said last is most likely why; stdout only if it had nothing to say on stderr. */
function outputOf({ stdout, stderr }: WorkLeft): readonly string[] {
  if (stderr.trim() !== '') return section('stderr', stderr, MOST_OUTPUT, 'last');
  return stdout.trim() === '' ? [] : section('stdout', stdout, MOST_OUTPUT, 'last');
}

function section(title: string, text: string, most: number, which: 'first' | 'last'): string[] {
  const lines = text.replace(/\n+$/, '').split('\n');
  const cut = lines.length > most;
  const told = which === 'first' ? lines.slice(0, most) : lines.slice(-most);
  const note = cut ? ` (${which} ${most} of ${lines.length} lines)` : '';
  return [`${title}${note}:`, ...told.map((line) => `  ${line.replaceAll('\t', '  ')}`)];
}
