// The database of the project, or the one that was named: whether it opens, is whole, how large it is, who keeps it.

import { existsSync, statSync } from 'node:fs';
import { join } from 'node:path';
import { connect, isRemote } from '../../api/open-database.ts';
import { DatabaseError } from '../../api/store/database.ts';
import { checkVersion } from '../../api/store/migrate.ts';
import { quickCheck } from '../../api/store/quick-check.ts';
import { readOwnerNote, takeOwnership } from '../../host/owner.ts';
import { MIGRATIONS } from '../../schema/migrations.ts';
import type { Io } from '../command.ts';
import { type Finding, fail, ok } from './finding.ts';

export interface CheckedDatabase {
  readonly findings: readonly Finding[];
  /** Of the process that keeps the project. */
  readonly ownerUrl: string | null;
}

export async function checkDatabase(
  project: string,
  url: string | undefined,
  io: Io,
): Promise<CheckedDatabase> {
  if (url !== undefined && isRemote(url)) return { findings: [await checkRemote(url, io)], ownerUrl: null };
  if (url !== undefined) return { findings: [checkWhole(url.replace(/^file:(\/\/)?/, ''))], ownerUrl: null };
  const own = join(project, '.sluice');
  const file = join(own, 'state.db');
  if (!existsSync(file)) {
    return { findings: [ok('database', `${project} has none yet; the first run makes it`)], ownerUrl: null };
  }
  const { finding, url: ownerUrl } = checkOwner(own);
  return { findings: [checkWhole(file), finding], ownerUrl };
}

/** Reads only, so it may be done beside the process that owns it. */
function checkWhole(file: string): Finding {
  try {
    const bytes = statSync(file).size;
    const problems = quickCheck(file);
    const fact = `${file} is whole, ${(bytes / 1e6).toFixed(1)} MB`;
    return problems.length === 0 ? ok('database', fact) : damaged(file, problems[0]!);
  } catch (error) {
    return damaged(file, error instanceof Error ? error.message : String(error));
  }
}

function damaged(file: string, problem: string): Finding {
  return fail(
    'database',
    `${file}: ${problem}`,
    `stop what uses it and move it away: mv ${file} ${file}.damaged; the next run makes it anew from lock files and disk`,
  );
}

function checkOwner(own: string): { finding: Finding; url: string | null } {
  const owner = takeOwnership(join(own, 'owner.db'));
  owner?.release();
  if (owner !== null) return { finding: ok('owner', 'no process keeps this project'), url: null };
  const note = readOwnerNote(join(own, 'owner.json'));
  const who = note === null ? 'a run' : `process ${note.pid}, at ${note.url ?? 'no address'}`;
  return { finding: ok('owner', `kept by ${who}`), url: note?.url ?? null };
}

async function checkRemote(url: string, io: Io): Promise<Finding> {
  const { host } = new URL(url);
  try {
    const db = await connect({ url, token: io.env.LIBSQL_TOKEN });
    try {
      await checkVersion(db, MIGRATIONS);
      return ok('database', `${host} answers, and has all migrations`);
    } finally {
      await db.close();
    }
  } catch (error) {
    if (!(error instanceof DatabaseError)) throw error;
    return fail('database', error.message, error.hint);
  }
}
