// Definitions as they were sent: the present one, and all there were.

import { type Row, sql } from './database.ts';
import { asText, hashBlob } from './hashes.ts';
import type { Store } from './store.ts';

export interface DefinitionSummary {
  readonly definition: string;
  readonly registered_at: string;
  readonly registered_by: string;
}

export interface Definition extends DefinitionSummary {
  readonly workflow: string;
  readonly root: string;
  readonly target: string;
  readonly source: string;
  readonly normal_form: unknown;
}

export async function readDefinition({ db }: Store, hash: string): Promise<Definition | null> {
  const [found] = await db.batch([sql(ONE, hashBlob(hash))], 'read');
  const row = found!.rows[0];
  if (row === undefined) return null;
  return {
    ...summary(row),
    workflow: row.name as string,
    root: row.root as string,
    target: row.target as string,
    source: row.source as string,
    normal_form: JSON.parse(row.normal_form as string),
  };
}

export async function listDefinitions({ db }: Store, workflow: string): Promise<DefinitionSummary[]> {
  const [found] = await db.batch([sql(ALL, workflow)], 'read');
  return found!.rows.map(summary);
}

function summary(row: Row): DefinitionSummary {
  return {
    definition: row.definition as string,
    registered_at: new Date(row.registered_at as number).toISOString(),
    registered_by: row.registered_by as string,
  };
}

const ONE = `SELECT w.name, w.root, w.target, d.source, d.normal_form, d.registered_at, d.registered_by,
    ${asText('d.hash')} AS definition
  FROM definitions d JOIN workflows w ON w.id = d.workflow_id WHERE d.hash = ?`;

const ALL = `SELECT ${asText('hash')} AS definition, registered_at, registered_by FROM definitions
  WHERE workflow_id = (SELECT id FROM workflows WHERE name = ?) ORDER BY registered_at DESC, rowid DESC LIMIT 1000`;
