// The tables as types know them and as migrations make them are the same tables.

import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { is } from 'drizzle-orm';
import { getTableConfig, SQLiteTable } from 'drizzle-orm/sqlite-core';
import { afterAll, beforeAll, expect, test } from 'vitest';
import type { Database } from '../../api/store/database.ts';
import { openEmbedded } from '../../api/store/embedded.ts';
import { migrate } from '../../api/store/migrate.ts';
import { MIGRATIONS } from '../../schema/migrations.ts';
import * as controlPlane from '../../schema/tables/control-plane.ts';
import * as tokens from '../../schema/tables/tokens.ts';

interface Column {
  readonly name: string;
  readonly type: string;
  readonly nullable: boolean;
  readonly generated: boolean;
  /** Its place in the primary key, from 1; 0 if it is no part of it. */
  readonly key: number;
}

const TABLES = Object.values({ ...controlPlane, ...tokens }).filter((each) => is(each, SQLiteTable));

let directory: string;
let db: Database;
beforeAll(async () => {
  directory = mkdtempSync(join(tmpdir(), 'sluice-tables-'));
  db = openEmbedded({ file: join(directory, 'state.db') });
  await migrate(db, MIGRATIONS, 0);
});
afterAll(async () => {
  await db.close();
  rmSync(directory, { recursive: true, force: true });
});

async function made(table: string): Promise<Column[]> {
  const [found] = await db.batch(
    [{ sql: 'SELECT * FROM pragma_table_xinfo(?) ORDER BY cid', args: [table] }],
    'read',
  );
  return found!.rows.map((row) => ({
    name: row.name as string,
    type: (row.type as string).replace(/ GENERATED ALWAYS$/i, '').toLowerCase(),
    nullable: row.notnull === 0 && row.pk === 0,
    generated: row.hidden === 2 || row.hidden === 3,
    key: row.pk as number,
  }));
}

function declared(table: SQLiteTable): Column[] {
  const { columns, primaryKeys } = getTableConfig(table);
  const key = primaryKeys[0]?.columns.map(({ name }) => name) ?? [];
  return columns.map((column) => ({
    name: column.name,
    type: column.getSQLType(),
    nullable: !column.notNull,
    generated: column.generated !== undefined,
    key: column.primary ? 1 : key.indexOf(column.name) + 1,
  }));
}

test.each(TABLES.map((table) => [getTableConfig(table).name, table] as const))(
  '%s has the same columns, types, nullability and primary key in both',
  async (name, table) => {
    expect(declared(table)).toEqual(await made(name));
  },
);

test('every table that the migrations make is known to the types', async () => {
  const [found] = await db.batch(
    [{ sql: "SELECT name FROM sqlite_schema WHERE type = 'table' ORDER BY name", args: [] }],
    'read',
  );
  const real = found!.rows.map(({ name }) => name as string);
  const ofOthers = real.filter((name) => name.startsWith('sqlite_') || name.includes('migrations'));
  const known = TABLES.map((table) => getTableConfig(table).name);
  expect([...known, ...ofOthers].toSorted()).toEqual(real);
});
