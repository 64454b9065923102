import { mkdtempSync, rmSync, statSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import fc from 'fast-check';
import { afterAll, beforeAll, beforeEach, describe, expect, test } from 'vitest';
import { type Database, DatabaseBug, DatabaseError, sql, type Value } from '../../../api/store/database.ts';
import { openEmbedded } from '../../../api/store/embedded.ts';
import { openRemote } from '../../../api/store/remote.ts';
import { type Sqld, startSqld } from '../../rig/sqld.ts';

let directory: string;
let sqld: Sqld;

beforeAll(async () => {
  directory = mkdtempSync(join(tmpdir(), 'sluice-database-'));
  sqld = await startSqld();
});

afterAll(async () => {
  await sqld.stop();
  rmSync(directory, { recursive: true, force: true });
});

const shapes = [
  { shape: 'embedded', open: () => openEmbedded({ file: join(directory, 'state.db') }) },
  { shape: 'remote', open: () => openRemote({ url: sqld.url }) },
];

describe.each(shapes)('the $shape database', ({ open }) => {
  let db: Database;

  beforeAll(() => {
    db = open();
  });

  afterAll(() => db.close());

  beforeEach(async () => {
    await db.batch(
      [
        sql('DROP TABLE IF EXISTS box'),
        sql('CREATE TABLE box (id INTEGER PRIMARY KEY, content ANY) STRICT'),
        sql("INSERT INTO box VALUES (1, 'first')"),
      ],
      'write',
    );
  });

  const contents = async () =>
    (await db.batch([sql('SELECT id, content FROM box ORDER BY id')], 'read'))[0]!.rows;

  test('a failing statement in the middle leaves nothing of its batch', async () => {
    const batch = db.batch(
      [
        sql('INSERT INTO box VALUES (2, ?)', 'second'),
        sql('INSERT INTO box VALUES (1, ?)', 'again'),
        sql('INSERT INTO box VALUES (3, ?)', 'third'),
      ],
      'write',
    );
    await expect(batch).rejects.toMatchObject({
      name: 'DatabaseError',
      code: 'database-constraint',
      message: 'UNIQUE constraint failed: box.id',
      inDoubt: false,
    });
    expect(await contents()).toEqual([{ id: 1, content: 'first' }]);
  });

  test('a statement that cannot run leaves nothing of its batch and is told by its text', async () => {
    const batch = db.batch([sql('DELETE FROM box'), sql('SELECT missing FROM box')], 'write');
    await expect(batch).rejects.toThrow(/missing.*SELECT missing FROM box/);
    await expect(batch).rejects.toBeInstanceOf(DatabaseBug);
    expect(await contents()).toHaveLength(1);
  });

  test('statements run in order and each sees what the ones before it did', async () => {
    const results = await db.batch(
      [
        sql('UPDATE box SET content = 1 WHERE id = 1'),
        sql('UPDATE box SET content = content * 10 + 2 WHERE id = 1'),
        sql('SELECT content FROM box'),
        sql('UPDATE box SET content = content * 10 + 3 RETURNING id, content'),
      ],
      'write',
    );
    expect(results.map((result) => result.rows)).toEqual([
      [],
      [],
      [{ content: 12 }],
      [{ id: 1, content: 123 }],
    ]);
  });

  test('RETURNING gives one row per row changed, so a fence is decided by rows.length', async () => {
    const fence = (before: string) =>
      sql('UPDATE box SET content = ? WHERE id = 1 AND content = ? RETURNING id', 'second', before);
    const [won] = await db.batch([fence('first')], 'write');
    const [lost] = await db.batch([fence('first')], 'write');
    expect([won!.rows.length, lost!.rows.length]).toEqual([1, 0]);
  });

  test('the rest of a batch can depend on its fence by changes()', async () => {
    const fenced = (id: number) =>
      db.batch(
        [
          sql('UPDATE box SET content = ? WHERE id = ? RETURNING id', 'taken', id),
          sql('INSERT INTO box (content) SELECT ? WHERE changes() = 1 RETURNING id', `after ${id}`),
        ],
        'write',
      );
    expect((await fenced(1)).map((result) => result.rows.length)).toEqual([1, 1]);
    expect((await fenced(99)).map((result) => result.rows.length)).toEqual([0, 0]);
    expect((await contents()).map((row) => row.content)).toEqual(['taken', 'after 1']);
  });

  test.each<[string, Value, string]>([
    ['NULL', null, 'null'],
    ['an integer', 1, 'integer'],
    ['zero, also when negative', -0, 'integer'],
    ['the largest integer', Number.MAX_SAFE_INTEGER, 'integer'],
    ['the smallest integer', Number.MIN_SAFE_INTEGER, 'integer'],
    ['a fraction', 0.1, 'real'],
    ['empty text', '', 'text'],
    ['text of any script', 'Grüße \u{1F9EA} 試験 \u202e\n\t\'"?;--', 'text'],
    ['text that looks like a number', '007', 'text'],
    ['a blob', Uint8Array.from({ length: 256 }, (_, i) => i), 'blob'],
    ['an empty blob', new Uint8Array(0), 'blob'],
  ])('%s comes back as it went in', async (_, value, type) => {
    const [, read] = await db.batch(
      [
        sql('INSERT INTO box VALUES (2, ?)', value),
        sql('SELECT content, typeof(content) AS type FROM box WHERE id = 2'),
      ],
      'write',
    );
    expect(read!.rows).toStrictEqual([{ content: value === 0 ? 0 : value, type }]);
  });

  test('any row of values comes back as it went in', async () => {
    const value = fc.oneof(
      fc.constant(null),
      fc.maxSafeInteger(),
      fc.double({ min: -1e15, max: 1e15, noNaN: true }),
      fc.string({ unit: 'grapheme' }).filter((text) => !text.includes('\0')),
      fc.uint8Array(),
    );
    const row = fc.array(value, { minLength: 1, maxLength: 20 });
    await fc.assert(
      fc.asyncProperty(row, async (values) => {
        const columns = values.map((_, i) => `? AS c${i}`).join(', ');
        const [read] = await db.batch([sql(`SELECT ${columns}`, ...values)], 'read');
        expect(Object.values(read!.rows[0]!)).toEqual(values.map((v) => (v === 0 ? 0 : v)));
      }),
      { numRuns: 60 },
    );
  });

  test('100 and 101 rows are given whole, each once', async () => {
    const numbers = (last: number) =>
      sql(
        'WITH RECURSIVE n(i) AS (SELECT 1 UNION ALL SELECT i + 1 FROM n WHERE i < ?) SELECT i FROM n',
        last,
      );
    const results = await db.batch([numbers(99), numbers(100), numbers(101), numbers(1000)], 'read');
    expect(results.map((result) => result.rows.length)).toEqual([99, 100, 101, 1000]);
  });

  test('200 batches at once that increment one counter lose nothing', async () => {
    await db.batch([sql('UPDATE box SET content = 0')], 'write');
    const increments = Array.from({ length: 200 }, () =>
      db.batch([sql('UPDATE box SET content = content + 1 WHERE id = 1 RETURNING content')], 'write'),
    );
    const seen = (await Promise.all(increments)).map((results) => results[0]!.rows[0]!.content);
    expect(new Set(seen).size).toBe(200);
    expect(await contents()).toEqual([{ id: 1, content: 200 }]);
  });

  test('of batches that come at once one that fails takes no other with it', async () => {
    const insert = (id: number) => sql('INSERT INTO box VALUES (?, ?)', id, `number ${id}`);
    const fenced = sql('INSERT INTO box (content) SELECT ? WHERE changes() = 1', 'after a fence');
    const asked = [
      [insert(2)],
      [insert(3), insert(1)],
      [insert(4), fenced],
      [sql('DROP missing')],
      [insert(9)],
    ];
    const answers = await Promise.allSettled(asked.map((each) => db.batch(each, 'write')));
    expect(answers.map(({ status }) => status)).toEqual([
      ...['fulfilled', 'rejected', 'fulfilled', 'rejected', 'fulfilled'],
    ]);
    expect(answers.map((each) => each.status === 'rejected' && each.reason.code)).toMatchObject({
      1: 'database-constraint',
    });
    const expected = ['first', 'number 2', 'number 4', 'after a fence', 'number 9'];
    expect((await contents()).map(({ content }) => content).sort()).toEqual(expected.sort());
  });

  test('what was asked is counted', async () => {
    const before = { ...db.stats };
    await db.batch([sql('SELECT 1 AS a'), sql('SELECT 2 AS a')], 'read');
    expect(db.stats).toEqual({ statements: before.statements + 2, batches: before.batches + 1 });
  });

  test('a foreign key is enforced', async () => {
    const batch = db.batch(
      [
        sql('CREATE TABLE lid (id INTEGER PRIMARY KEY, box_id INTEGER REFERENCES box (id)) STRICT'),
        sql('INSERT INTO lid VALUES (1, 99)'),
      ],
      'write',
    );
    await expect(batch).rejects.toMatchObject({ code: 'database-constraint' });
  });

  test.each<[string, string, unknown[]]>([
    [
      'more than 100 parameters',
      `SELECT ${Array.from({ length: 101 }, (_, i) => `? AS c${i}`).join()}`,
      Array(101).fill(1),
    ],
    ['a text over 100 KB', `SELECT '${'x'.repeat(100_000)}' AS x`, []],
    ['a value over 2 MB', 'SELECT length(?) AS n', ['x'.repeat(2_000_001)]],
    ['too few args', 'SELECT ? AS a, ? AS b', [1]],
    ['too many args', 'SELECT ? AS a', [1, 2]],
    ['named args', 'SELECT :a AS a', []],
    ['two statements in one', "SELECT 'a;b' AS a; DELETE FROM box", []],
    ['an end of the transaction', 'COMMIT', []],
    ['a boolean', 'SELECT ? AS a', [true]],
    ['undefined', 'SELECT ? AS a', [undefined]],
    ['a date', 'SELECT ? AS a', [new Date(0)]],
    ['an integer beyond 2^53', 'SELECT ? AS a', [2 ** 53]],
    ['NaN', 'SELECT ? AS a', [Number.NaN]],
    ['text with NUL', 'SELECT ? AS a', ['a\0b']],
    ['text with half a surrogate pair', 'SELECT ? AS a', ['\ud800']],
    ['two columns with one name', 'SELECT 1 AS a, 2 AS a', []],
    ['a result beyond 2^53', 'SELECT 9007199254740993 AS a', []],
    ['a write in a read batch', 'DELETE FROM box', []],
    ['a write behind WITH in a read batch', 'WITH a AS (SELECT 1) DELETE FROM box', []],
  ])('%s is our own bug, told before any harm', async (_, text, args) => {
    await expect(db.batch([sql(text, ...(args as Value[]))], 'read')).rejects.toBeInstanceOf(DatabaseBug);
    expect(await contents()).toHaveLength(1);
  });

  test('a trigger, a comment and a quoted mark are no second statement and no parameter', async () => {
    await db.batch(
      [
        sql(
          "CREATE TRIGGER echo AFTER INSERT ON box WHEN new.id = 2 BEGIN DELETE FROM box WHERE id = 1; SELECT '?'; END",
        ),
        sql("INSERT INTO box VALUES (2, '?;') -- why; not?\n;"),
      ],
      'write',
    );
    expect(await contents()).toEqual([{ id: 2, content: '?;' }]);
  });

  test('numbered parameters may be used twice', async () => {
    const [read] = await db.batch([sql('SELECT ?1 AS a, ?2 AS b, ?1 AS c', 'x', 'y')], 'read');
    expect(read!.rows).toEqual([{ a: 'x', b: 'y', c: 'x' }]);
  });

  test('more different texts than are remembered still give the right rows', async () => {
    const texts = Array.from({ length: 1_200 }, (_, i) => sql(`SELECT ${i} AS n`));
    for (const round of [texts, [...texts].reverse()]) {
      const results = await db.batch(round, 'read');
      expect(results.map((result) => sql(`SELECT ${result.rows[0]!.n} AS n`))).toEqual(round);
    }
  });

  test('after close it is our own bug to use it', async () => {
    const other = open();
    await other.close();
    await expect(other.batch([sql('SELECT 1 AS a')], 'read')).rejects.toBeInstanceOf(DatabaseBug);
  });
});

describe('the embedded file', () => {
  test('is committed once for all writes that come at once', async () => {
    const file = join(directory, 'together.db');
    const db = openEmbedded({ file });
    await db.batch([sql('CREATE TABLE t (a)')], 'write');
    // Every commit adds the pages that it changed to the log.
    const logged = () => statSync(`${file}-wal`).size;
    const before = logged();
    await db.batch([sql('INSERT INTO t VALUES (0)')], 'write');
    const one = logged() - before;
    await Promise.all(
      Array.from({ length: 20 }, (_, i) => db.batch([sql('INSERT INTO t VALUES (?)', i)], 'write')),
    );
    expect(logged() - before - one).toBe(one);
    await db.close();
  });

  test('has all that was asked before it is closed', async () => {
    const file = join(directory, 'at-the-end.db');
    const db = openEmbedded({ file });
    const made = db.batch([sql('CREATE TABLE t (a)'), sql('INSERT INTO t VALUES (1)')], 'write');
    await db.close();
    await made;
    const again = openEmbedded({ file });
    expect((await again.batch([sql('SELECT a FROM t')], 'read'))[0]!.rows).toEqual([{ a: 1 }]);
    await again.close();
  });

  const caught = (open: () => unknown): DatabaseError => {
    try {
      open();
    } catch (error) {
      return error as DatabaseError;
    }
    throw new Error('nothing was thrown');
  };

  test('is readable only by its owner, and so is its log', async () => {
    const file = join(directory, 'private.db');
    const db = openEmbedded({ file });
    await db.batch([sql('CREATE TABLE t (a)')], 'write');
    const modes = [file, `${file}-wal`, `${file}-shm`].map((name) => statSync(name).mode & 0o777);
    expect(modes).toEqual([0o600, 0o600, 0o600]);
    await db.close();
  });

  test('holds everything by itself once the database is closed', async () => {
    const file = join(directory, 'closed.db');
    const db = openEmbedded({ file });
    await db.batch([sql('CREATE TABLE t (a)'), sql('INSERT INTO t VALUES (1)')], 'write');
    await db.close();
    expect(statSync(file).size).toBeGreaterThan(0);
    expect(statSync(`${file}-wal`, { throwIfNoEntry: false })?.size ?? 0).toBe(0);
  });

  test('that is no database is refused by name, with the next step, and left as it is', () => {
    const file = join(directory, 'noise.db');
    writeFileSync(file, 'not a database '.repeat(500));
    const error = caught(() => openEmbedded({ file }));
    expect(error).toBeInstanceOf(DatabaseError);
    expect(error).toMatchObject({ code: 'database-corrupt' });
    expect(error.message).toContain(file);
    expect(error.hint).toContain('aside');
    expect(statSync(file).size).toBe(7_500);
  });

  test('in a directory that does not exist is refused by name', () => {
    const file = join(directory, 'missing', 'state.db');
    expect(caught(() => openEmbedded({ file }))).toMatchObject({ code: 'database-unusable' });
  });
});

describe('the URL of a remote database', () => {
  test.each(['nonsense', 'file:state.db', 'ftp://x', 'ws://127.0.0.1:1', ''])('%j is refused', (url) => {
    expect(() => openRemote({ url })).toThrow(DatabaseError);
  });

  test('a token in it is used but never shown', async () => {
    const seen: (string | null)[] = [];
    const fail = async (request: string | URL | Request) => {
      seen.push((request as Request).headers.get('authorization'));
      throw new TypeError('fetch failed');
    };
    const db = openRemote({ url: 'https://user:hunter2@db.example.com/?authToken=s3cret', fetch: fail });
    const error = await db.batch([sql('SELECT 1 AS a')], 'write').catch((thrown) => thrown as DatabaseError);
    expect(seen).toEqual(['Bearer s3cret']);
    expect(error).toMatchObject({ code: 'database-unreachable', inDoubt: true });
    expect(JSON.stringify([error, (error as Error).message])).not.toMatch(/s3cret|hunter2/);
    expect((error as Error).message).toContain('https://db.example.com/');
  });

  test('a token with a line break is refused without being shown', () => {
    expect(() => openRemote({ url: 'https://db.example.com', token: 's3cret\n' })).toThrow(/^(?!.*s3cret)/);
  });
});
