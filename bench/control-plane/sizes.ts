// What a look and a changed file cost with a thousand entities and with a million, each in a process of its own.

import { type ChildProcess, fork } from 'node:child_process';
import { once } from 'node:events';
import { createApp } from '../../api/app.ts';
import { openDatabase } from '../../api/open-database.ts';
import { sql } from '../../api/store/database.ts';
import { median } from '../measure/table.ts';
import { askingApp, partsOn, temporaryDatabase } from './plane.ts';
import { BATCH_OF_SCAN, hashOf, nameOf, observe, register, scan } from './workload.ts';

export interface AtSize {
  readonly entities: number;
  readonly scanSeconds: number;
  readonly residentMb: number;
  readonly databaseMb: number;
  /** Milliseconds. */
  readonly status: number;
  readonly why: number;
  readonly observation: number;
  readonly claimAndComplete: number;
}

interface Built {
  readonly scanSeconds: number;
  readonly databaseMb: number;
}

type Looks = Pick<AtSize, 'status' | 'why' | 'observation' | 'claimAndComplete' | 'residentMb'>;

export async function measureSizes(sizes: readonly number[], rounds: number): Promise<AtSize[]> {
  const children: { readonly entities: number; readonly child: ChildProcess; readonly built: Built }[] = [];
  for (const entities of sizes) {
    const child = fork(process.argv[1]!, ['--at-size', String(entities)], {
      stdio: ['ignore', 'inherit', 'inherit', 'ipc'],
    });
    children.push({ entities, child, built: await answerOf<Built>(child) });
  }
  const looks = children.map((): Looks[] => []);
  for (let round = 0; round < rounds; round++) {
    for (const [i, { child }] of children.entries()) {
      child.send('look');
      looks[i]!.push(await answerOf<Looks>(child));
    }
  }
  for (const { child } of children) {
    child.send('stop');
    await once(child, 'exit');
  }
  return children.map(({ entities, built }, i) => {
    const of = (what: keyof Looks) => median(looks[i]!.map((each) => each[what]));
    return {
      ...{ entities, ...built, residentMb: of('residentMb'), status: of('status'), why: of('why') },
      ...{ observation: of('observation'), claimAndComplete: of('claimAndComplete') },
    };
  });
}

async function answerOf<Answer>(child: ChildProcess): Promise<Answer> {
  const ended = once(child, 'exit').then(() => Promise.reject(new Error('a process of the bench ended')));
  ended.catch(() => {});
  const [answer] = await Promise.race([once(child, 'message'), ended]);
  return answer as Answer;
}

const WORKFLOW = 'w';
const LOOKS = 30;
const WARM_UP = 20;

/** What the forked process does. */
export async function standAtSize(entities: number): Promise<void> {
  const { file, remove } = temporaryDatabase();
  const db = await openDatabase({ url: file }, Date.now());
  const ask = askingApp(createApp(partsOn(db)));
  const began = performance.now();
  await register(ask, WORKFLOW);
  await scan(ask, WORKFLOW, entities);
  const scanSeconds = (performance.now() - began) / 1_000;
  const [pages] = await db.batch([sql('PRAGMA page_count')], 'read');
  const databaseMb = ((pages!.rows[0]!.page_count as number) * 4_096) / 1e6;
  process.send!({ scanSeconds, databaseMb } satisfies Built);
  // Whoever scanned more is warmer; with this all are.
  for (let change = 1; change <= WARM_UP; change++) await look(ask, entities, change);
  for (let change = WARM_UP + 1; ; change++) {
    const [asked] = await once(process, 'message');
    if (asked === 'stop') break;
    process.send!(await look(ask, entities, change));
  }
  await db.close();
  remove();
  process.disconnect();
}

async function look(ask: ReturnType<typeof askingApp>, entities: number, change: number): Promise<Looks> {
  // Spread over all there is, so that no page of the database is warm because its neighbour was.
  const nth = (i: number) => (i * 7_919 + change * 104_729) % entities;
  const entity = (i: number) => nameOf(nth(i));
  return {
    status: median(await timesOf(LOOKS, () => ask('GET', `/api/pipeline/${WORKFLOW}/status`))),
    why: median(
      await timesOf(LOOKS, (i) =>
        ask('GET', `/api/workflows/${WORKFLOW}/why?stage=copy_%7Bx%7D&entity=${entity(i)}`),
      ),
    ),
    observation: median(
      await timesOf(LOOKS, (i) => {
        const path = `/${WORKFLOW}/in/${entity(i)}.txt`;
        return observe(ask, [{ path, hash: hashOf(BATCH_OF_SCAN * 1e6 + change * LOOKS + i), size: 1 }]);
      }),
    ),
    claimAndComplete: median(
      await timesOf(LOOKS, async () => {
        const claim = { runner: 'bench', targets: ['local'], limit: 1 };
        const { items } = await ask<{ items: { token: number }[] }>('POST', '/api/work/claim', claim);
        await ask('POST', '/api/work/complete', { runner: 'bench', items: [{ token: items[0]!.token }] });
      }),
    ),
    residentMb: process.memoryUsage.rss() / 1e6,
  };
}

/** How many milliseconds each of `times` calls took, one after the other. */
async function timesOf(times: number, act: (nth: number) => Promise<unknown>): Promise<number[]> {
  const taken: number[] = [];
  for (let nth = 0; nth < times; nth++) {
    const began = performance.now();
    await act(nth);
    taken.push(performance.now() - began);
  }
  return taken;
}
