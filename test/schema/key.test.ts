import fc from 'fast-check';
import { describe, expect, test } from 'vitest';
import { loadBlake3 } from '../../host/blake3.ts';
import {
  comparePreimages,
  computeKey,
  hashDirectory,
  hashMembers,
  type Preimage,
  type TreeEntry,
} from '../../schema/key.ts';
import { type Blake3, isBlake3, type Json } from '../../schema/words.ts';
import type { Action } from '../../schema/workflow.ts';

const hash = loadBlake3().hash;
const digest = (n: number) => `blake3:${n.toString(16).padStart(64, '0')}` as Blake3;
const key = (preimage: Preimage) => computeKey(hash, preimage);
const shell = (cmd: string): Action => ({ kind: 'shell', cmd, shell: 'rash', env: {} });

const base: Preimage = {
  action: shell('whisper {{input}}'),
  code: [{ path: 'run.py', hash: digest(1) }],
  params: { model: 'tiny', beam: 5 },
  deps: [
    { path: 'audio/', hash: digest(2) },
    { path: 'words.txt', hash: digest(3) },
  ],
};

const path = fc.constantFrom('a', 'b', 'ab', 'c/d');
const files = fc.uniqueArray(fc.record({ path, hash: fc.nat(3).map(digest) }), {
  selector: (f) => f.path,
  maxLength: 3,
});
const preimages: fc.Arbitrary<Preimage> = fc.record({
  action: fc.constantFrom(
    shell('x'),
    shell('y'),
    { ...shell('x'), shell: 'raw' } as Action,
    { kind: 'none' } as const,
  ),
  code: files,
  params: fc.dictionary(
    fc.constantFrom('p', 'q', 'constructor', 'toString'),
    fc.constantFrom<Json>(null, 0, 1, '1', [1], { a: 1, b: 2 }),
    { maxKeys: 3 },
  ),
  deps: files,
});

describe('keys', () => {
  test('cache key deterministic: a function of its inputs, whatever the order of their keys', () => {
    fc.assert(
      fc.property(preimages, (preimage) => {
        const { deps, params, code, action } = structuredClone(preimage);
        const again = { deps, params: Object.fromEntries(Object.entries(params).reverse()), code, action };
        expect(key(again)).toEqual(key(preimage));
      }),
    );
  });

  test('cache key deterministic: these four hashes are what any machine computes', () => {
    expect(key(base)).toMatchInlineSnapshot(`
      {
        "cacheKey": "blake3:96cab6691caa89219ca53845b47fbb2bc1292c8dea735ffb68e580029dc9fe18",
        "cmdHash": "blake3:87392f01b5dfbb4ce1ed95c1d5b00e807d22d64d38f2dc2f9128717a36382316",
        "depsHash": "blake3:55fe70d0bc83e75a8ffb0baddeb464c4e310ce75d3ef3ed49dc91a500f7a4138",
        "paramsHash": "blake3:8f16a72e511b43ccc447f09ca3d96905b407a3f8cebf2030f52350e792e006c5",
      }
    `);
    for (const part of Object.values(key(base))) expect(isBlake3(part)).toBe(true);
  });

  test.each<[string, Partial<Preimage>, string]>([
    ['the command', { action: shell('whisper  {{input}}') }, 'cmdHash'],
    ['the shell mode', { action: { ...shell('whisper {{input}}'), shell: 'raw' } as Action }, 'cmdHash'],
    ['the environment', { action: { ...shell('whisper {{input}}'), env: { A: '1' } } as Action }, 'cmdHash'],
    ['the content of a code file', { code: [{ path: 'run.py', hash: digest(9) }] }, 'cmdHash'],
    ['the path of a code file', { code: [{ path: 'go.py', hash: digest(1) }] }, 'cmdHash'],
    ['a param value', { params: { model: 'base', beam: 5 } }, 'paramsHash'],
    ['the type of a param value', { params: { model: 'tiny', beam: '5' } }, 'paramsHash'],
    ['one more param', { params: { model: 'tiny', beam: 5, more: null } }, 'paramsHash'],
    ['the content of a dep', { deps: [base.deps[0]!, { path: 'words.txt', hash: digest(9) }] }, 'depsHash'],
    ['the path of a dep', { deps: [base.deps[0]!, { path: 'word.txt', hash: digest(3) }] }, 'depsHash'],
    ['the order of deps', { deps: [...base.deps].reverse() }, 'depsHash'],
    ['one dep fewer', { deps: base.deps.slice(1) }, 'depsHash'],
  ])('%s changes the cache key through one of its three parts', (_, change, part) => {
    const [old, now] = [key(base), key({ ...base, ...change })];
    const differing = Object.keys(old).filter(
      (name) => old[name as keyof typeof old] !== now[name as keyof typeof now],
    );
    expect(differing).toEqual([part, 'cacheKey']);
  });

  test('different preimages never share a key: comparePreimages is empty exactly if the keys are equal', () => {
    fc.assert(
      fc.property(preimages, preimages, (old, now) => {
        expect(comparePreimages(old, now).length === 0).toBe(key(old).cacheKey === key(now).cacheKey);
      }),
      { numRuns: 1_000 },
    );
  });

  test('the three parts cannot stand for each other', () => {
    const { cmdHash, paramsHash, depsHash } = key({
      action: { kind: 'none' },
      code: [],
      params: {},
      deps: [],
    });
    expect(new Set([cmdHash, paramsHash, depsHash]).size).toBe(3);
  });
});

describe('comparePreimages', () => {
  test.each<[string, Partial<Preimage>, object[]]>([
    ['nothing', {}, []],
    ['the command', { action: shell('other') }, [{ change: 'cmd' }]],
    [
      'a code file',
      { code: [{ path: 'run.py', hash: digest(9) }] },
      [{ change: 'code', path: 'run.py', old: digest(1), now: digest(9) }],
    ],
    [
      'a param',
      { params: { model: 'base', beam: 5 } },
      [{ change: 'param', name: 'model', old: 'tiny', now: 'base' }],
    ],
    [
      'a param removed',
      { params: { model: 'tiny' } },
      [{ change: 'param', name: 'beam', old: 5, now: undefined }],
    ],
    [
      'a param added under an inherited name',
      { params: { ...base.params, constructor: 1 } as unknown as Record<string, Json> },
      [{ change: 'param', name: 'constructor', old: undefined, now: 1 }],
    ],
    [
      'a dep',
      { deps: [{ path: 'audio/', hash: digest(7) }, base.deps[1]!] },
      [{ change: 'dep', path: 'audio/', old: digest(2), now: digest(7) }],
    ],
    [
      'a dep added',
      { deps: [...base.deps, { path: 'new', hash: digest(4) }] },
      [{ change: 'dep', path: 'new', old: null, now: digest(4) }],
    ],
    [
      'a dep removed',
      { deps: base.deps.slice(1) },
      [{ change: 'dep', path: 'audio/', old: digest(2), now: null }],
    ],
    ['the order of deps', { deps: [...base.deps].reverse() }, [{ change: 'deps-order' }]],
  ])('names %s, old and new', (_, change, expected) => {
    expect(comparePreimages(base, { ...base, ...change })).toEqual(expected);
  });

  test('the order of code files is told once, as the command', () => {
    const code = [...base.code, { path: 'lib.py', hash: digest(5) }];
    const turned = { ...base, code: [...code].reverse() };
    expect(comparePreimages({ ...base, code }, turned)).toEqual([{ change: 'cmd' }]);
    expect(comparePreimages({ ...base, code }, { ...turned, action: shell('other') })).toEqual([
      { change: 'cmd' },
    ]);
  });
});

describe('directory and member hashes', () => {
  const entries: readonly TreeEntry[] = [
    { name: 'b', kind: 'file', hash: digest(1) },
    { name: 'a', kind: 'directory', hash: digest(2) },
  ];
  const now = hashDirectory(hash, entries);

  test('the order in which the disk lists entries has no influence', () => {
    expect(hashDirectory(hash, [...entries].reverse())).toBe(now);
    const members = [
      { path: 'x', hash: digest(1) },
      { path: 'y', hash: digest(2) },
    ];
    expect(hashMembers(hash, [...members].reverse())).toBe(hashMembers(hash, members));
  });

  test.each<[string, TreeEntry]>([
    ['name', { name: 'c', kind: 'file', hash: digest(1) }],
    ['kind', { name: 'b', kind: 'link', hash: digest(1) }],
    ['content', { name: 'b', kind: 'file', hash: digest(3) }],
  ])('the %s of an entry has influence', (_, entry) => {
    expect(hashDirectory(hash, [entry, entries[1]!])).not.toBe(now);
  });

  test('an empty directory is not an empty collection', () => {
    expect(hashDirectory(hash, [])).not.toBe(hashMembers(hash, []));
  });
});
