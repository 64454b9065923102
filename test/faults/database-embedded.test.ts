// What other processes, kill -9, a full disk and a vanished file do to the embedded database.

import { type ChildProcessWithoutNullStreams, spawn } from 'node:child_process';
import { once } from 'node:events';
import { mkdtempSync, readFileSync, renameSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { createInterface } from 'node:readline';
import { fileURLToPath } from 'node:url';
import { build } from 'esbuild';
import { afterAll, afterEach, beforeAll, beforeEach, expect, test } from 'vitest';
import { type Database, sql } from '../../api/store/database.ts';
import { openEmbedded } from '../../api/store/embedded.ts';

const ROOT = fileURLToPath(new URL('../..', import.meta.url));
const HOLDER = join(ROOT, 'test/faults/database-holder.mjs');
/** Under node_modules, so that the bundle finds libsql. */
const WRITER = join(ROOT, `node_modules/.cache/sluice-faults/writer-${process.pid}.mjs`);

interface Program {
  /** Sends a line and gives the first `answers` lines that come back. */
  ask(line: string, answers: number): Promise<string[]>;
  /** Everything it said until it was dead. */
  kill(): Promise<string[]>;
}

let directory: string;
let file: string;
let db: Database;
let started: ChildProcessWithoutNullStreams[];

beforeAll(async () => {
  await build({
    entryPoints: [join(ROOT, 'test/faults/database-writer.ts')],
    outfile: WRITER,
    bundle: true,
    platform: 'node',
    format: 'esm',
    external: ['libsql'],
  });
});

afterAll(() => rmSync(WRITER, { force: true }));

beforeEach(async () => {
  directory = mkdtempSync(join(tmpdir(), 'sluice-faults-'));
  file = join(directory, 'state.db');
  started = [];
  db = openEmbedded({ file, busyTimeoutMs: 100 });
  await db.batch(
    [
      sql('CREATE TABLE pair (id INTEGER PRIMARY KEY, half TEXT NOT NULL) STRICT'),
      sql('CREATE TABLE counter (n INTEGER NOT NULL) STRICT'),
      sql('INSERT INTO counter VALUES (0)'),
    ],
    'write',
  );
});

afterEach(async () => {
  await db.close();
  for (const child of started) child.kill('SIGKILL');
  rmSync(directory, { recursive: true, force: true });
});

test('after a lock held by another process every acknowledged write survives kill -9', async () => {
  const holder = start(HOLDER, file);
  const writer = start(WRITER, file, '50');
  expect(await writer.ask('write', 1)).toEqual(['ok']);
  await holder.ask('lock', 1);
  expect(await writer.ask('write 2', 2)).toEqual(['database-busy', 'database-busy']);
  await holder.ask('free', 1);
  expect(new Set(await writer.ask('write 100', 100))).toEqual(new Set(['ok']));
  await writer.kill();
  expect(await pairs()).toEqual({ left: 101, right: 101 });
});

test('a lock that is let go in time is only waited for', async () => {
  const holder = start(HOLDER, file);
  const writer = start(WRITER, file);
  await holder.ask('lock', 1);
  const answer = writer.ask('write', 1);
  await holder.ask('free', 1);
  expect(await answer).toEqual(['ok']);
});

test('after one failure for a lock the same database object reads and writes on', async () => {
  const holder = start(HOLDER, file);
  await holder.ask('lock', 1);
  const batch = db.batch([sql('UPDATE counter SET n = 1')], 'write');
  await expect(batch).rejects.toMatchObject({ code: 'database-busy', inDoubt: false });
  await expect(batch).rejects.toThrow(file);
  expect(await counter()).toBe(0);
  await holder.ask('free', 1);
  await db.batch([sql('UPDATE counter SET n = 2')], 'write');
  const other = openEmbedded({ file, busyTimeoutMs: 100 });
  await other.batch([sql('UPDATE counter SET n = n + 1')], 'write');
  await other.close();
  expect(await counter()).toBe(3);
});

test.each([1, 7, 40, 150, 400])(
  'kill -9 after %i answers loses nothing acknowledged, halves nothing',
  async (n) => {
    const writer = start(WRITER, file);
    await writer.ask('flood', n);
    const answers = await writer.kill();
    const { left, right } = await pairs();
    expect(new Set(answers)).toEqual(new Set(['ok']));
    expect(left).toBe(right);
    expect(left).toBeGreaterThanOrEqual(answers.length);
    expect(left).toBeLessThanOrEqual(answers.length + 1);
  },
);

test('two processes that increment one counter lose nothing', async () => {
  const writers = [start(WRITER, file), start(WRITER, file)];
  const answers = await Promise.all(writers.map((writer) => writer.ask('increment 300', 300)));
  expect(new Set(answers.flat())).toEqual(new Set(['ok']));
  expect(await counter()).toBe(600);
});

test('a full disk is told as such, leaves nothing of the batch, and is over when there is room again', async () => {
  // The connection's own limit gives the very error of a full disk, and goes when the connection is dropped.
  await db.batch([sql('PRAGMA max_page_count = 8')], 'write');
  const fill = sql('INSERT INTO pair (half) VALUES (?)', 'x'.repeat(100_000));
  const batch = db.batch([sql('UPDATE counter SET n = 9'), fill], 'write');
  await expect(batch).rejects.toMatchObject({ code: 'database-full' });
  await expect(batch).rejects.toThrow(file);
  expect(await counter()).toBe(0);
  await db.batch([sql('UPDATE counter SET n = 9'), fill], 'write');
  expect(await counter()).toBe(9);
});

test('a file that was replaced while in use is never opened again in place of ours', async () => {
  const holder = start(HOLDER, file);
  await holder.ask('lock', 1);
  await expect(db.batch([sql('DELETE FROM counter')], 'write')).rejects.toMatchObject({
    code: 'database-busy',
  });
  renameSync(file, `${file}.old`);
  await expect(counter()).rejects.toMatchObject({ code: 'database-unusable' });
  writeFileSync(file, '');
  await expect(counter()).rejects.toThrow(/replaced while in use/);
  expect(readFileSync(file)).toHaveLength(0);
});

test('damage inside the file is told as such when it is met', async () => {
  await db.batch([sql('INSERT INTO pair (half) VALUES (?)', 'x'.repeat(50_000))], 'write');
  await db.close();
  const bytes = readFileSync(file);
  bytes.fill(0xff, 4096);
  writeFileSync(file, bytes);
  db = openEmbedded({ file });
  const read = db.batch([sql('SELECT count(*) AS n FROM pair WHERE half > ?', 'a')], 'read');
  await expect(read).rejects.toMatchObject({ code: 'database-corrupt' });
});

async function pairs(): Promise<{ left: number; right: number }> {
  const count = (half: string) => sql('SELECT count(*) AS n FROM pair WHERE half = ?', half);
  const [left, right] = await db.batch([count('left'), count('right')], 'read');
  return { left: Number(left!.rows[0]!.n), right: Number(right!.rows[0]!.n) };
}

async function counter(): Promise<number> {
  const [read] = await db.batch([sql('SELECT n FROM counter')], 'read');
  return Number(read!.rows[0]!.n);
}

function start(script: string, ...args: string[]): Program {
  const child = spawn(process.execPath, [script, ...args], { stdio: ['pipe', 'pipe', 'inherit'] }) as never;
  return conversation(child);
}

function conversation(child: ChildProcessWithoutNullStreams): Program {
  started.push(child);
  const lines: string[] = [];
  const reader = createInterface({ input: child.stdout });
  reader.on('line', (line) => lines.push(line));
  const ended = once(reader, 'close');
  return {
    ask: async (line, answers) => {
      const from = lines.length;
      child.stdin.write(`${line}\n`);
      while (lines.length < from + answers) {
        const closed = await Promise.race([once(reader, 'line').then(() => false), ended.then(() => true)]);
        if (closed)
          throw new Error(`it ended after ${lines.length - from} of ${answers} answers to '${line}'`);
      }
      return lines.slice(from, from + answers);
    },
    kill: async () => {
      child.kill('SIGKILL');
      await ended;
      return lines;
    },
  };
}
