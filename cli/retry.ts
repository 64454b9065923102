// `sluice retry FILE|NAME [STATE]`: what failed or gave up is tried again at once, not when its back-off ends.

import { answerOf } from '../host/client.ts';
import { askAgain, tell } from './ask-again.ts';
import { EXIT, type ExitCode, flag, type Invocation } from './command.ts';

export async function run(invocation: Invocation): Promise<ExitCode> {
  const { values, io } = invocation;
  return askAgain(invocation, async ({ reached, param, json, what, next }) => {
    const { retried } = await answerOf(reached.client.api.pipeline[':workflow'].retry.$post({ param, json }));
    const states = retried === 1 ? '1 state' : `${retried} states`;
    const sentence =
      retried === 0
        ? `nothing of ${what} has failed; to make it again all the same: sluice invalidate`
        : `${what}: ${states} will be tried again${next}`;
    tell(io, flag(values, 'json') ? { workflow: reached.name, ...json, retried } : null, sentence);
    return EXIT.done;
  });
}
