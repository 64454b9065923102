// `sluice token create|list|revoke`: who may read, watch, work and administer.

import { answerOf } from '../host/client.ts';
import { shown } from '../schema/diagnostic.ts';
import { CliError, EXIT, type ExitCode, flag, type Invocation, list, text } from './command.ts';
import { reach } from './control-plane.ts';
import { durationMs } from './duration-option.ts';
import { explained } from './refused.ts';
import { columns } from './render/columns.ts';

export async function run({ values, positionals, io }: Invocation): Promise<ExitCode> {
  const [action, subject] = positionals;
  const reached = await reach(values, io);
  try {
    const { tokens } = reached.client.api;
    switch (action) {
      case 'create': {
        const scopes = list(values, 'scope');
        const made = await answerOf(
          tokens.$post({
            json: {
              name: needed(subject, 'a name for the token'),
              scopes: (scopes.length === 0 ? ['read'] : scopes) as ['read'],
              ...given('workflow', text(values, 'workflow')),
              ...given('target', text(values, 'target')),
              ...given('expires_in_seconds', expiry(text(values, 'expires'))),
            },
          }),
        );
        io.stdout.write(flag(values, 'json') ? `${JSON.stringify(made)}\n` : `${made.token}\n`);
        io.stderr.write(
          `token ${made.id} '${shown(made.name)}' (${made.scopes.join(', ')}); it is shown only this once\n`,
        );
        return EXIT.done;
      }
      case 'revoke': {
        const gone = await answerOf(
          tokens[':id'].$delete({ param: { id: needed(subject, 'the id of a token') } }),
        );
        io.stdout.write(
          flag(values, 'json')
            ? `${JSON.stringify(gone)}\n`
            : `revoked token ${gone.id} '${shown(gone.name)}'\n`,
        );
        return EXIT.done;
      }
      default: {
        const all = await answerOf(tokens.$get({ query: {} }));
        const rows = all.map((each) => [
          ...[
            String(each.id),
            shown(each.name),
            each.scopes.join(','),
            each.workflow ?? '',
            each.target ?? '',
          ],
          ...[each.revoked_at ? 'revoked' : (each.expires_at ?? 'never'), each.last_used_at ?? 'never'],
        ]);
        const head = ['ID', 'NAME', 'SCOPES', 'WORKFLOW', 'TARGET', 'EXPIRES', 'LAST USED'];
        io.stdout.write(flag(values, 'json') ? `${JSON.stringify(all)}\n` : columns([head, ...rows]));
        return EXIT.done;
      }
    }
  } catch (error) {
    throw explained(error);
  } finally {
    await reached.close();
  }
}

function needed(value: string | undefined, what: string): string {
  if (value !== undefined) return value;
  throw new CliError({
    code: 'missing-argument',
    message: `token needs ${what}`,
    hint: "see 'sluice help token'",
  });
}

function expiry(written: string | undefined): number | undefined {
  return written === undefined ? undefined : Math.ceil(durationMs('--expires', written) / 1_000);
}

function given<K extends string, V>(key: K, value: V | undefined) {
  return value === undefined ? {} : ({ [key]: value } as Record<K, V>);
}
