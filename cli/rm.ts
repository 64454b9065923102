// `sluice rm NAME`: takes a workflow off the control plane; its files stay.

import { answerOf } from '../host/client.ts';
import { shown } from '../schema/diagnostic.ts';
import { EXIT, type ExitCode, flag, type Invocation } from './command.ts';
import { reach } from './control-plane.ts';
import { explained } from './refused.ts';

export async function run({ values, positionals, io }: Invocation): Promise<ExitCode> {
  const reached = await reach(values, io);
  try {
    const name = positionals[0]!;
    const history = flag(values, 'drop-history') ? 'drop' : 'keep';
    const workflow = reached.client.api.workflows[':name{[^]+}'];
    await answerOf(workflow.$delete({ param: { name: encodeURIComponent(name) }, query: { history } }));
    const kept = history === 'keep' ? '; its history is kept' : '';
    io.stdout.write(`removed ${shown(name)}${kept}\n`);
    return EXIT.done;
  } catch (error) {
    throw explained(error);
  } finally {
    await reached.close();
  }
}
