import { mkdirSync, mkdtempSync, realpathSync, rmSync, symlinkSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { dirname, join } from 'node:path';
import fc from 'fast-check';
import { afterEach, beforeEach, describe, expect, test } from 'vitest';
import { DISK, type Disk } from '../../host/disk.ts';
import { ignoreRule } from '../../host/ignore.ts';
import { matchPattern, type Pattern, parsePattern } from '../../schema/pattern.ts';
import { type Scan, scan, scanInSlices } from '../../watcher/scan.ts';

let root: string;
let disk: Disk;
let listed: string[];
let statted: string[];
beforeEach(() => {
  root = realpathSync(mkdtempSync(join(tmpdir(), 'sluice-scan-')));
  listed = [];
  statted = [];
  disk = {
    ...DISK,
    list: (path) => {
      listed.push(below(path));
      return DISK.list(path);
    },
    stat: (path) => {
      statted.push(below(path));
      return DISK.stat(path);
    },
  };
});
afterEach(() => rmSync(root, { recursive: true, force: true }));

function below(path: string): string {
  return path.startsWith(`${root}/`) ? path.slice(root.length + 1) : path;
}

function write(...names: string[]): void {
  for (const name of names) {
    mkdirSync(dirname(join(root, name)), { recursive: true });
    writeFileSync(join(root, name), name);
  }
}

function patternFrom(written: string): Pattern {
  const parsed = parsePattern(written);
  if (!parsed.ok) throw new Error(parsed.message);
  return parsed.pattern;
}

function optionsFor(written: readonly string[], ignore: readonly string[] = []) {
  return { patterns: written.map(patternFrom), root, ignore: ignoreRule(ignore), disk };
}

/** Each found path with, per pattern that matched it, its index and values. */
function summary({ found }: Scan): Record<string, [number, Record<string, string>][]> {
  return Object.fromEntries(
    found.map(({ path, matches }) => [below(path), matches.map((m) => [m.pattern, { ...m.bindings }])]),
  );
}

function scanFor(...written: string[]) {
  return summary(scan(optionsFor(written)));
}

describe('what matches', () => {
  test('paths with the values of their variables, each path once with all its patterns', () => {
    write('in/2026/a.txt', 'in/2026/b.txt', 'in/2027/a.txt', 'out/a.md');
    expect(scanFor('in/{year}/{name}.txt', 'in/2026/{x}.txt', 'out/a.md', 'in/2026/a.txt')).toEqual({
      'in/2026/a.txt': [
        [0, { year: '2026', name: 'a' }],
        [1, { x: 'a' }],
        [3, {}],
      ],
      'in/2026/b.txt': [
        [0, { year: '2026', name: 'b' }],
        [1, { x: 'b' }],
      ],
      'in/2027/a.txt': [[0, { year: '2027', name: 'a' }]],
      'out/a.md': [[2, {}]],
    });
  });

  test('a directory, where the pattern allows one, and only that where it asks for one', () => {
    write('raw/one/x', 'raw/file');
    expect(Object.keys(scanFor('raw/{d}/'))).toEqual(['raw/one']);
    expect(Object.keys(scanFor('raw/{d}')).sort()).toEqual(['raw/file', 'raw/one']);
    expect(scan(optionsFor(['raw/one/'])).found[0]?.stamp.kind).toBe('directory');
    expect(scanFor('raw/file/')).toEqual({});
  });

  test('the root itself, a path above it and an absolute pattern', () => {
    write('a/b.txt');
    const own = root.slice(dirname(root).length + 1);
    expect(scan(optionsFor(['.'])).found.map(({ path }) => path)).toEqual([root]);
    expect(scanFor(`../${own}/a/b.txt`, `${root}/a/{x}.txt`, 'a/b.txt')).toEqual({
      'a/b.txt': [
        [0, {}],
        [1, { x: 'b' }],
        [2, {}],
      ],
    });
  });

  test('a variable that stands twice has one value', () => {
    write('s/a/a-raw.txt', 's/a/b-raw.txt', 's/b/b-raw.txt', 's/b/b-raw.txt.gz');
    expect(scanFor('s/{x}/{x}-raw.txt')).toEqual({
      's/a/a-raw.txt': [[0, { x: 'a' }]],
      's/b/b-raw.txt': [[0, { x: 'b' }]],
    });
    expect(scanFor('s/{x}/{x}-{rest}')['s/b/b-raw.txt.gz']).toEqual([[0, { x: 'b', rest: 'raw.txt.gz' }]]);
  });

  test.each(['-rf', 'two\nlines', '🎧', '\u00e9', 'e\u0301', '\uFFFD', '{x}', '$(reboot)'])(
    'the name %j',
    (name) => {
      write(`d/${name}.txt`);
      expect(scanFor('d/{x}.txt')).toEqual({ [`d/${name}.txt`]: [[0, { x: name }]] });
    },
  );

  test('variables named like parts of every object', () => {
    write('a/b/c.txt');
    expect(scanFor('a/{constructor}/{toString}.txt')).toEqual({
      'a/b/c.txt': [[0, { constructor: 'b', toString: 'c' }]],
    });
  });

  test('links, by what they lead to; not those that lead nowhere', () => {
    write('real/sub/a.txt');
    mkdirSync(join(root, 'in'));
    symlinkSync('../real/sub/a.txt', join(root, 'in/file.txt'));
    symlinkSync('nowhere', join(root, 'in/dangling.txt'));
    symlinkSync('../real/sub', join(root, 'in/dir'));
    const { found, problems } = scan(optionsFor(['in/{x}.txt', 'in/{d}/{x}.txt', 'in/dangling.txt']));
    expect(found.map(({ path, stamp }) => [below(path), stamp.kind])).toEqual([
      ['in/file.txt', 'file'],
      ['in/dir/a.txt', 'file'],
    ]);
    expect(problems).toEqual([]);
  });
});

describe('what variables pass over', () => {
  test('ignored names and dotfiles, also as directories on the way', () => {
    write(
      'd/a',
      'd/b.tmp',
      'd/.hidden',
      'd/.sluice-1.a',
      'd/.manifest.jsonl',
      'd/.git/a',
      'd/.env/a',
      'd/s/a',
    );
    expect(Object.keys(scanFor('d/{x}', 'd/{x}/a')).sort()).toEqual(['d/a', 'd/s', 'd/s/a']);
  });

  test('not what a pattern writes out', () => {
    write('d/.hidden.txt', 'd/.env', 'd/b.tmp', '.git/HEAD', 'd/a.txt');
    expect(Object.keys(scanFor('d/.{x}.txt', 'd/.env', 'd/b.tmp', '.git/HEAD', 'd/{y}.txt')).sort()).toEqual([
      '.git/HEAD',
      'd/.env',
      'd/.hidden.txt',
      'd/a.txt',
      'd/b.tmp',
    ]);
  });

  test('what the workflow adds to the rule', () => {
    write('d/a.bak', 'd/a.txt', 'd/a.tmp');
    expect(Object.keys(summary(scan(optionsFor(['d/{x}'], ['*.bak', '!*.tmp']))))).toEqual([
      'd/a.tmp',
      'd/a.txt',
    ]);
  });
});

describe('what is looked at', () => {
  test('only directories that a variable can match in, and only paths that a pattern matches', () => {
    write('in/a/x.txt', 'in/a/x.log', 'in/b/x.txt', 'in/file', 'big/1/2/3', 'out/x.md', 'in/a/deep/er/x.txt');
    scanFor('in/{d}/{x}.txt', 'out/x.md', 'out/gone.md');
    expect(listed.sort()).toEqual(['in', 'in/a', 'in/b']);
    expect(statted.sort()).toEqual(['in/a/x.txt', 'in/b/x.txt', 'out/gone.md', 'out/x.md']);
  });

  test('a directory once, however many patterns go through it', () => {
    write('in/a.txt', 'in/b.txt');
    scanFor('in/{x}.txt', 'in/{y}.txt', 'in/a{z}', 'in/{n}.md', 'in/a.txt', `${root}/in/{q}.txt`);
    expect(listed).toEqual(['in']);
    expect(statted).toEqual(['in/a.txt', 'in/b.txt']);
  });

  test('nothing is listed for a name that a directory above it settles', () => {
    write('s/a/a.txt', 's/b/b.txt');
    scanFor('s/{x}/{x}.txt');
    expect(listed).toEqual(['s']);
  });

  test('nothing below what is not there', () => {
    expect(scan(optionsFor(['no/{x}/{y}.txt', 'no/such/file']))).toEqual({ found: [], problems: [] });
  });
});

describe('what is reported', () => {
  test('a directory that cannot be listed; written-out names in it are found all the same', () => {
    write('d/a.txt', 'e/b.txt');
    disk = { ...disk, list: (path) => (path.endsWith('/d') ? refuse('EACCES') : DISK.list(path)) };
    const result = scan(optionsFor(['d/{x}.txt', 'd/a.txt', 'e/{x}.txt']));
    expect(result.problems).toEqual([
      { path: join(root, 'd'), reason: 'permission to read it is missing (EACCES)' },
    ]);
    expect(Object.keys(summary(result)).sort()).toEqual(['d/a.txt', 'e/b.txt']);
  });

  test('a path whose stamp cannot be taken', () => {
    write('d/a.txt');
    symlinkSync('loop', join(root, 'd/loop'));
    const { problems } = scan(optionsFor(['d/{x}']));
    expect(problems).toEqual([
      { path: join(root, 'd/loop'), reason: 'its links go round in a circle (ELOOP)' },
    ]);
  });

  test('a name that is not UTF-8, if a pattern could mean it', () => {
    write('d/ok.txt', 'd/caf\uFFFD.txt');
    for (const name of ['caf\xe9.txt', 'caf\xe9.log', 'caf\xe9.tmp'])
      writeFileSync(Buffer.concat([Buffer.from(`${root}/d/`), Buffer.from(name, 'latin1')]), '');
    const result = scan(optionsFor(['d/{x}.txt']));
    expect(result.problems).toEqual([
      { path: `${root}/d/caf\\xe9.txt`, reason: 'its name is not UTF-8: rename it' },
    ]);
    expect(result.found.map(({ path }) => below(path)).sort()).toEqual(['d/caf\uFFFD.txt', 'd/ok.txt']);
  });
});

test('a scan in slices finds the same and lets the event loop in', async () => {
  write(...Array.from({ length: 1_200 }, (_, i) => `d/${i}.txt`));
  let turns = 0;
  const count = () => {
    turns++;
    if (turns < 1_000) setImmediate(count);
  };
  setImmediate(count);
  const options = optionsFor(['d/{x}.txt']);
  const sliced = await scanInSlices(options);
  expect(turns).toBeGreaterThan(0);
  turns = 1_000;
  expect(sliced).toEqual(scan(options));
});

test('finds exactly the paths that the patterns match', () => {
  const name = fc.constantFrom('a', 'b', 'a-b', 'a-b-a', 'b.x', 'a.x', '-');
  const path = fc.array(name, { minLength: 1, maxLength: 3 }).map((names) => names.join('/'));
  const part = fc.constantFrom('a', 'b', '{v}', '{w}', '{v}-{w}', '{v}.x', 'a-{w}', '{w}-a', '{w}-{v}.x');
  const pattern = fc.array(part, { minLength: 1, maxLength: 3 }).map((parts) => parts.join('/'));
  fc.assert(
    fc.property(
      fc.uniqueArray(path, { maxLength: 12 }),
      fc.array(pattern, { maxLength: 5 }),
      (paths, written) => {
        rmSync(root, { recursive: true });
        const made = new Set<string>();
        mkdirSync(root);
        for (const file of paths) {
          if ([...made].some((other) => file.startsWith(`${other}/`) || other.startsWith(`${file}/`)))
            continue;
          write(file);
          made.add(file);
        }
        const all = new Set(
          [...made].flatMap((file) => file.split('/').map((_, i, n) => n.slice(0, i + 1).join('/'))),
        );
        const expected: Record<string, Record<string, string>> = {};
        for (const place of all) {
          for (const [i, text] of written.entries()) {
            const bindings = matchPattern(patternFrom(text), place);
            if (bindings !== null) expected[`${i} ${place}`] = { ...bindings };
          }
        }
        const found: Record<string, Record<string, string>> = {};
        for (const [place, matches] of Object.entries(scanFor(...written)))
          for (const [i, bindings] of matches) found[`${i} ${place}`] = bindings;
        expect(found).toEqual(expected);
      },
    ),
    { numRuns: 200 },
  );
});

function refuse(code: string): never {
  throw Object.assign(new Error(`${code}: refused`), { code, syscall: 'test' });
}
