// `sluice db migrate|backup`: the database brought up to date, or copied while in use.

import { join } from 'node:path';
import { connect } from '../api/open-database.ts';
import { backup } from '../api/store/backup.ts';
import { DatabaseError } from '../api/store/database.ts';
import { migrate } from '../api/store/migrate.ts';
import { projectRootOf } from '../host/project-root.ts';
import { MIGRATIONS } from '../schema/migrations.ts';
import { CliError, EXIT, type ExitCode, type Invocation, text } from './command.ts';
import { databaseTrouble } from './control-plane.ts';

export async function run({ values, positionals, io }: Invocation): Promise<ExitCode> {
  const [action, target] = positionals;
  const url = text(values, 'db') ?? join(projectRootOf(io.cwd), '.sluice', 'state.db');
  try {
    if (action === 'backup') {
      if (target === undefined) throw missingTarget();
      backup(url.replace(/^file:/, ''), target);
      io.stdout.write(`copied to ${target}\n`);
      return EXIT.done;
    }
    const db = await connect({ url, token: io.env.LIBSQL_TOKEN });
    try {
      const applied = await migrate(db, MIGRATIONS, Date.now());
      const names = MIGRATIONS.filter(({ id }) => applied.includes(id)).map(
        ({ id, name }) => `${id} ${name}\n`,
      );
      io.stdout.write(applied.length === 0 ? 'up to date\n' : `applied:\n${names.join('')}`);
      return EXIT.done;
    } finally {
      await db.close();
    }
  } catch (error) {
    throw error instanceof DatabaseError ? databaseTrouble(error) : error;
  }
}

function missingTarget(): CliError {
  return new CliError({
    code: 'missing-argument',
    message: 'db backup needs the name of the copy',
    hint: 'for example: sluice db backup state-copy.db',
  });
}
