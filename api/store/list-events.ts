// What happened, in the order in which it did.

import type { EventAnswer } from '../../schema/read-answers.ts';
import { type Row, sql } from './database.ts';
import { isoTime } from './look-up.ts';
import type { Store } from './store.ts';

export interface EventQuery {
  /** The id after which the page begins. */
  readonly after: number;
  readonly limit: number;
  readonly workflow?: string | undefined;
  /** So many of the newest instead. */
  readonly newest?: number | undefined;
}

export async function listEvents(
  { db }: Store,
  { after, limit, workflow, newest }: EventQuery,
): Promise<EventAnswer[]> {
  const order = newest === undefined ? 'ASC' : 'DESC';
  const [from, most] = newest === undefined ? [after, limit] : [0, newest];
  const statement =
    workflow === undefined ? sql(all(order), from, most) : sql(ofWorkflow(order), from, most, workflow);
  const [found] = await db.batch([statement], 'read');
  const events = found!.rows.map(toEvent);
  return newest === undefined ? events : events.reverse();
}

/** The id of the newest; whoever wants to hear only of what is to come begins there. */
export async function newestEvent({ db }: Store): Promise<number> {
  const [found] = await db.batch([sql('SELECT coalesce(max(id), 0) AS id FROM events')], 'read');
  return found!.rows[0]!.id as number;
}

function toEvent(row: Row): EventAnswer {
  const body = row.body === null ? {} : (JSON.parse(row.body as string) as Record<string, unknown>);
  const told = Object.entries(body).filter(([, value]) => value !== null);
  const fixed = {
    id: row.id as number,
    ts: isoTime(row.at)!,
    event: row.event as string,
    workflow: row.workflow as string | null,
    ...(row.stage === null ? {} : { stage: row.stage as string }),
    ...(row.entity === null ? {} : { entity: row.entity as string }),
  };
  return { ...fixed, ...Object.fromEntries(told), ...fixed };
}

const NAMED = `SELECT v.id, v.at, v.event, v.body, w.name AS workflow, g.name AS stage, e.name AS entity
  FROM events v LEFT JOIN workflows w ON w.id = v.workflow_id LEFT JOIN stages g ON g.id = v.stage_id
  LEFT JOIN entities e ON e.id = v.entity_id`;

type Order = 'ASC' | 'DESC';

const all = (order: Order) => `${NAMED} WHERE v.id > ?1 ORDER BY v.id ${order} LIMIT ?2`;

const ofWorkflow = (order: Order) => `${NAMED}
  WHERE v.workflow_id = (SELECT id FROM workflows WHERE name = ?3) AND v.id > ?1 ORDER BY v.id ${order} LIMIT ?2`;
