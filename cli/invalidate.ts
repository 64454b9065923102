// `sluice invalidate FILE|NAME STAGE[@ENTITY]`: states are stale although nothing changed, and are made again.

import { answerOf } from '../host/client.ts';
import { askAgain, tell } from './ask-again.ts';
import { EXIT, type ExitCode, flag, type Invocation } from './command.ts';

export async function run(invocation: Invocation): Promise<ExitCode> {
  const { values, io } = invocation;
  return askAgain(invocation, async ({ reached, param, json, what, next }) => {
    const asked = reached.client.api.pipeline[':workflow'].invalidate.$post({ param, json });
    const { invalidated } = await answerOf(asked);
    const states = invalidated === 1 ? '1 state' : `${invalidated} states`;
    const sentence =
      invalidated === 0
        ? `${what} has no states to make again; a source is only watched`
        : `${what}: ${states} will be made again${next}`;
    tell(io, flag(values, 'json') ? { workflow: reached.name, ...json, invalidated } : null, sentence);
    return EXIT.done;
  });
}
