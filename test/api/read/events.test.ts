// What happened over HTTP: page by page, and live.

import { afterEach, beforeEach, expect, test } from 'vitest';
import type { Caller } from '../../../api/parts.ts';
import { type EventAnswer, eventAnswer } from '../../../schema/read-answers.ts';
import { BLOG, type ReadRig, ROOT, startReadRig } from './read-rig.ts';

let rig: ReadRig;
beforeEach(async () => {
  rig = await startReadRig();
  await rig.register('blog', BLOG);
});
afterEach(() => rig.stop());

const names = (events: readonly EventAnswer[]) =>
  events.map(({ event, entity }) => (entity ? `${event} ${entity}` : event));

async function makeOne(name: string): Promise<void> {
  await rig.see({ [`logs/${name}.txt`]: name });
  const [item] = await rig.claim(1);
  await rig.make(
    item!,
    { [`logs/${item!.entity}.txt`]: item!.entity },
    { [`summaries/${item!.entity}.txt`]: 's' },
  );
}

test('events come in order with names instead of numbers, and without what is not known', async () => {
  await makeOne('a');
  const events = (await rig.get<unknown[]>('/api/events')).map((each) => eventAnswer.parse(each));
  expect(names(events)).toEqual(['workflow_registered', 'stage_started a', 'stage_completed a']);
  expect(events[2]).toEqual({
    ...{
      id: 3,
      ts: '2026-01-15T10:00:00.000Z',
      event: 'stage_completed',
      workflow: 'blog',
      stage: 'summary',
    },
    ...{ entity: 'a', token: 1, runner: 'hand', seconds: 1 },
  });
});

test('events are paged by id, and a workflow can be asked for alone', async () => {
  await makeOne('a');
  await rig.register('other', BLOG, '/q');
  const first = await rig.request('/api/events?limit=2');
  const next = /<(.*)>; rel="next"/.exec(first.headers.get('Link')!)![1]!;
  expect(names(await rig.get(next))).toEqual(['stage_completed a', 'workflow_registered']);
  expect(names(await rig.get('/api/events?after=1&workflow=blog'))).toEqual([
    'stage_started a',
    'stage_completed a',
  ]);
  expect(names(await rig.get('/api/events?workflow=other'))).toEqual(['workflow_registered']);
  expect(await rig.get('/api/events?workflow=nobody')).toEqual([]);
  expect((await rig.request('/api/events?limit=1001')).status).toBe(400);
});

test('a token for one workflow hears of that one only', async () => {
  await rig.register('other', BLOG, '/q');
  const limited: Caller = { ...ROOT, scopes: ['read'], workflow: 'other' };
  const events = (await (await rig.request('/api/events', {}, limited)).json()) as EventAnswer[];
  expect(events.map(({ workflow }) => workflow)).toEqual(['other']);
  expect((await rig.request('/api/events?workflow=blog', {}, limited)).status).toBe(403);
  expect((await rig.request('/api/events/stream?workflow=blog', {}, limited)).status).toBe(403);
  const stream = await open('/api/events/stream?after=0', {}, limited);
  expect(await stream.next()).toMatchObject([{ event: 'workflow_registered', data: { workflow: 'other' } }]);
  await stream.leave();
});

interface Message {
  readonly id: string | undefined;
  readonly event: string | undefined;
  readonly data: Record<string, unknown>;
}

async function open(path: string, headers: Record<string, string> = {}, caller: Caller = ROOT) {
  const response = await rig.request(path, { headers }, caller);
  expect(response.headers.get('Content-Type')).toBe('text/event-stream; charset=utf-8');
  const reader = response.body!.getReader();
  const decoder = new TextDecoder();
  return {
    /** The messages of the next chunk that has any; undefined at the end. */
    next: async (): Promise<Message[] | undefined> => {
      for (;;) {
        const { done, value } = await reader.read();
        if (done) return undefined;
        const messages = readMessages(decoder.decode(value));
        if (messages.length > 0) return messages;
      }
    },
    leave: () => reader.cancel(),
  };
}

function readMessages(text: string): Message[] {
  const blocks = text.split('\n\n').filter((block) => block !== '' && !block.startsWith(':'));
  return blocks.map((block) => {
    const fields = new Map(block.split('\n').map((line) => line.split(/: (.*)/, 2) as [string, string]));
    return { id: fields.get('id'), event: fields.get('event'), data: JSON.parse(fields.get('data')!) };
  });
}

test('a stream begins with what is to come, and is woken by the bell', async () => {
  const stream = await open('/api/events/stream');
  const heard = stream.next();
  await makeOne('a');
  rig.bell.ring();
  expect(await heard).toMatchObject([
    { id: '2', event: 'stage_started', data: { id: 2, entity: 'a' } },
    { id: '3', event: 'stage_completed' },
  ]);
  await stream.leave();
});

test('a stream goes on after the last event that was heard', async () => {
  await makeOne('a');
  const byHeader = await open('/api/events/stream?after=0', { 'Last-Event-ID': '2' });
  expect((await byHeader.next())!.map(({ id }) => id)).toEqual(['3']);
  await byHeader.leave();
  const byQuery = await open('/api/events/stream?after=1&workflow=blog');
  expect((await byQuery.next())!.map(({ id }) => id)).toEqual(['2', '3']);
  await byQuery.leave();
});

test('a stream looks at the database a few times, then ends with the cursor to go on from', async () => {
  const before = rig.db.stats.batches;
  const ringing = setInterval(() => rig.bell.ring(), 5);
  const stream = await open('/api/events/stream');
  const [last] = (await stream.next())!;
  expect(last).toEqual({ id: '1', event: 'cursor', data: { after: 1 } });
  expect(await stream.next()).toBeUndefined();
  clearInterval(ringing);
  expect(rig.db.stats.batches - before).toBe(1 + 20);
});

test('many events arrive in pages, each fetched when the one before was taken', async () => {
  const insert = `INSERT INTO events (at, event)
    WITH RECURSIVE n (i) AS (SELECT 1 UNION ALL SELECT i + 1 FROM n WHERE i < 1000) SELECT i, 'tick' FROM n`;
  await rig.db.batch([{ sql: insert, args: [] }], 'write');
  const before = rig.db.stats.batches;
  const stream = await open('/api/events/stream?after=1');
  expect(rig.db.stats.batches - before).toBe(0);
  expect((await stream.next())!.length).toBe(200);
  expect(rig.db.stats.batches - before).toBe(1);
  expect((await stream.next())!.at(-1)!.id).toBe('401');
  await stream.leave();
});

test('a stream whose reader has left looks no more', async () => {
  const stream = await open('/api/events/stream?after=1');
  const reading = stream.next();
  await new Promise((resolve) => setTimeout(resolve, 20));
  await stream.leave();
  expect(await reading).toBeUndefined();
  const before = rig.db.stats.batches;
  rig.bell.ring();
  await new Promise((resolve) => setTimeout(resolve, 150));
  expect(rig.db.stats.batches).toBe(before);
});

test('a request that is given up ends its stream', async () => {
  const leaving = new AbortController();
  const response = await rig.request('/api/events/stream?after=1', { signal: leaving.signal });
  const reader = response.body!.getReader();
  await reader.read();
  const rest = reader.read();
  leaving.abort();
  expect((await rest).done).toBe(true);
});

test('a cursor that is no number is refused', async () => {
  expect((await rig.request('/api/events?after=x')).status).toBe(400);
  expect((await rig.request('/api/events/stream?after=-1')).status).toBe(400);
});
