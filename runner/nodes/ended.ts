// How a command that a node ran has ended, in the words of a node.

import { type FailureOutcome, nextStep } from '../../schema/retry.ts';
import { unreachable } from '../../schema/words.ts';
import { NO_RETRY } from '../../schema/workflow.ts';
import type { Ended } from '../execute.ts';
import { tailOf } from '../log-tail.ts';
import type { Executed } from './node.ts';
import { CANCELLED, failed, type NodeResult, timedOut } from './result.ts';

const TOLD_BYTES = 2_000;

/** Null if it ended well. */
export function howEnded({ outcome, workDir }: Executed): NodeResult | null {
  switch (outcome.kind) {
    case 'cancelled':
      return CANCELLED;
    case 'unstartable':
      return failed(`could not start: ${outcome.reason}`);
    case 'timeout':
      return timedOut(told(`timed out after ${outcome.seconds.toFixed(1)} s`, workDir));
    case 'exited':
      return outcome.exitCode === 0 ? null : exited(outcome, workDir);
    default:
      return unreachable(outcome);
  }
}

function exited({ exitCode, signal }: Ended, workDir: string): NodeResult {
  const how = signal === null ? `exit code ${exitCode}` : `ended by ${signal}`;
  const outcome: FailureOutcome =
    signal === null ? { kind: 'exit', code: exitCode } : { kind: 'signal', signal };
  const rule = { ...NO_RETRY, retries: 1, on: 'transient' as const };
  const transient = nextStep(rule, { failures: 1, outcome }).next === 'retry';
  return { kind: 'failed', error: told(how, workDir), transient, outcome };
}

function told(what: string, workDir: string): string {
  const said = tailOf(workDir, 'stderr', TOLD_BYTES).trimEnd();
  return said === '' ? what : `${what}\n${said}`;
}
