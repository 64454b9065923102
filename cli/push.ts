// `sluice push FILE…`: registers workflows on a control plane. All are checked first; one that is wrong stops them all.

import { answerOf, type Client } from '../host/client.ts';
import { shown } from '../schema/diagnostic.ts';
import { CliError, EXIT, type ExitCode, flag, type Invocation, text } from './command.ts';
import { reach } from './control-plane.ts';
import { commonPlace, type Pushed, readPushed } from './push/read-pushed.ts';
import { refuseLoops } from './push/refuse-loops.ts';
import { explained } from './refused.ts';
import { type Changes, type PushResult, renderPushed } from './render/push.ts';

export async function run({ values, positionals, io }: Invocation): Promise<ExitCode> {
  const pushed = readPushed(positionals, values, io);
  const reached = await reach(values, io, commonPlace(pushed, values, io));
  const done: PushResult[] = [];
  try {
    const target = text(values, 'target');
    const before = new Map(
      (await answerOf(reached.client.api.workflows.$get())).map((each) => [each.name, each]),
    );
    await refuseLoops(pushed, { client: reached.client, target, registered: [...before.values()] });
    for (const each of pushed)
      done.push(await registerOne(each, { client: reached.client, target, before: before.get(each.name) }));
  } catch (error) {
    throw afterSome(explained(error), done, pushed);
  } finally {
    await reached.close();
  }
  for (const { file, warnings } of done)
    for (const warning of warnings.filter(isNews))
      io.stderr.write(`${shown(file)}: warning: ${shown(warning)}\n`);
  io.stdout.write(renderPushed(done, io, flag(values, 'json')));
  return EXIT.done;
}

/** What is wrong at a place of the file was shown there, before anything was sent. */
function isNews(warning: string): boolean {
  return !/^\d+:\d+ /.test(warning);
}

interface Registering {
  readonly client: Client;
  readonly target: string | undefined;
  readonly before: { readonly definition: string } | undefined;
}

async function registerOne(pushed: Pushed, { client, target, before }: Registering): Promise<PushResult> {
  const { name, root, set, source, file } = pushed;
  const query = {
    root,
    ...(target === undefined ? {} : { target }),
    ...(Object.keys(set).length === 0 ? {} : { set: JSON.stringify(set) }),
  };
  const put = client.api.workflows[':name{[^]+}'].$put(
    { param: { name: encodeURIComponent(name) }, query },
    { init: { body: source } },
  );
  const answer = await answerOf(put);
  const changes = answer.changes as unknown as Changes;
  const status =
    before === undefined ? 'new' : before.definition === answer.definition ? 'unchanged' : 'changed';
  return {
    ...{ file, workflow: name, status, definition: answer.definition },
    ...{ root: answer.root, target: answer.target, changes, warnings: answer.warnings },
  };
}

/** What only the control plane can refuse may come after some are in; then that is told too. */
function afterSome(error: unknown, done: readonly PushResult[], pushed: readonly Pushed[]): unknown {
  const failed = pushed[done.length];
  if (!(error instanceof CliError) || done.length === 0 || failed === undefined) return error;
  const { code, message, hint = '', exitCode } = error;
  const names = done.map(({ workflow }) => shown(workflow));
  const told =
    names.length > 5 ? `${names.slice(0, 5).join(', ')} and ${names.length - 5} more` : names.join(', ');
  return new CliError({
    ...{ code, exitCode, cause: error },
    message: `${shown(failed.file)}: ${message}; registered before it: ${told}`,
    hint: `${hint}${hint === '' ? '' : '; '}then push again: what is registered already stays as it is`,
  });
}
