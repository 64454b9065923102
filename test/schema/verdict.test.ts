import { describe, expect, test } from 'vitest';
import { loadBlake3 } from '../../host/blake3.ts';
import { computeKey, type Preimage } from '../../schema/key.ts';
import { explain, type Reason, reasonFor, stateName } from '../../schema/reason.ts';
import {
  judge,
  type StateFacts,
  type StateRecord,
  type UpstreamFact,
  type Verdict,
} from '../../schema/verdict.ts';
import type { Blake3, EntityId, StageId } from '../../schema/words.ts';

const hash = loadBlake3().hash;
const digest = (digit: string) => `blake3:${digit.repeat(64)}` as Blake3;
const [A, B, C] = [digest('a'), digest('b'), digest('c')];
const stage = (name: string) => name as StageId;
const NONE = '' as EntityId;

const made: Preimage = {
  action: { kind: 'shell', cmd: 'whisper', shell: 'rash', env: {} },
  code: [],
  params: { whisper_model: 'moonshine-tiny' },
  deps: [{ path: 'audio/', hash: A }],
};
const currently = (preimage: Preimage) => ({ key: computeKey(hash, preimage), preimage });
const keyOf = (preimage: Preimage) => computeKey(hash, preimage).cacheKey;
const record = (parts: Partial<StateRecord> = {}): StateRecord => ({
  cacheKey: keyOf(made),
  preimage: made,
  outs: [{ path: 'text.json', hash: B }],
  skipped: false,
  ...parts,
});
const upstream = (parts: Partial<UpstreamFact>): UpstreamFact => ({
  stage: stage('extract'),
  entity: NONE,
  status: 'settled',
  reran: [],
  ...parts,
});

/** A state that was made from `made` and has not been touched since. */
const facts = (parts: Partial<StateFacts> = {}): StateFacts => ({
  current: currently(made),
  records: [record()],
  hasLockFile: true,
  outs: [{ path: 'text.json', hash: B }],
  editable: false,
  frozen: false,
  due: false,
  forced: false,
  invalidatedBy: null,
  missing: [],
  upstream: [],
  failure: null,
  nowMs: 1_000,
  ...parts,
});

const FRESH: Verdict = { verdict: 'fresh', frozen: false, adopt: false, despite: [] };
const otherParams: Preimage = { ...made, params: { whisper_model: 'moonshine-base' } };
const otherDeps: Preimage = { ...made, deps: [{ path: 'audio/', hash: C }] };

/** Of a stale state, the sentences a person reads. */
function sentences(parts: Partial<StateFacts>): string[] {
  const verdict = judge(facts(parts));
  if (verdict.verdict !== 'stale') throw new Error(`expected stale, got ${verdict.verdict}`);
  return verdict.reasons.map(explain);
}

describe('fresh', () => {
  test('unchanged stage cached', () => {
    expect(judge(facts())).toEqual(FRESH);
  });

  test('unchanged stage cached: an upstream that ran again and made the same changes nothing', () => {
    expect(judge(facts({ upstream: [upstream({ reran: ['audio/'] })] }))).toEqual(FRESH);
  });

  test('unchanged stage cached: an older record vouches, so switching a param back re-runs nothing', () => {
    const newer = record({ cacheKey: keyOf(otherParams), preimage: otherParams });
    expect(judge(facts({ records: [newer, record()] }))).toEqual(FRESH);
  });

  test('unchanged stage cached: of two records with one key, the one whose outputs are there counts', () => {
    const elsewhere = record({ outs: [{ path: 'text.json', hash: C }] });
    expect(judge(facts({ records: [elsewhere, record()] }))).toEqual(FRESH);
    expect(judge(facts({ records: [record(), elsewhere] }))).toEqual(FRESH);
  });

  test('unchanged stage cached: a failure that came before does not matter once a record vouches', () => {
    const failure = {
      cacheKey: keyOf(made),
      attempt: 1,
      error: 'exit 1',
      exhausted: true,
      nextRetryMs: null,
    };
    expect(judge(facts({ failure }))).toEqual(FRESH);
  });

  test('a false condition is skipped for its key, and no output is expected', () => {
    const skipped = record({ skipped: true, outs: [] });
    const outs = [{ path: 'text.json', hash: null }];
    expect(judge(facts({ records: [skipped], outs }))).toEqual({ verdict: 'skipped' });
    expect(sentences({ records: [skipped], outs, current: currently(otherDeps) })).toHaveLength(1);
  });
});

describe('frozen', () => {
  test('frozen stage always cached: changed deps are told and change nothing', () => {
    const verdict = judge(facts({ frozen: true, current: currently(otherDeps) }));
    expect(verdict).toMatchObject({ verdict: 'fresh', frozen: true, adopt: false });
    expect(verdict.verdict === 'fresh' && verdict.despite.map(explain)).toEqual([
      'deps_hash changed: audio/ [blake3:aaaaaaaa → blake3:cccccccc]',
    ]);
  });

  test.each<[string, Partial<StateFacts>]>([
    ['an input is gone', { missing: ['audio/'], current: null }],
    ['something before it gave up', { upstream: [upstream({ status: 'gave-up' })] }],
    ['something before it is stale', { upstream: [upstream({ status: 'stale' })], current: null }],
    ['it is due', { due: true }],
    ['it was invalidated', { invalidatedBy: 'petra' }],
    ['its output is gone', { outs: [{ path: 'text.json', hash: null }] }],
  ])('frozen stage always cached: also if %s', (_, parts) => {
    expect(judge(facts({ frozen: true, ...parts }))).toMatchObject({ verdict: 'fresh', frozen: true });
  });

  test('frozen stage always cached: outputs on disk are adopted if nothing is recorded', () => {
    const verdict = judge(facts({ frozen: true, records: [], hasLockFile: false }));
    expect(verdict).toEqual({ verdict: 'fresh', frozen: true, adopt: true, despite: [] });
  });

  test('frozen stage without a record and without outputs is refused', () => {
    const outs = [{ path: 'text.json', hash: null }];
    expect(judge(facts({ frozen: true, records: [], outs }))).toEqual({
      verdict: 'waiting',
      cause: { wait: 'frozen-without-output', paths: ['text.json'] },
      reasons: [],
    });
  });

  test('frozen stage force override', () => {
    expect(sentences({ frozen: true, forced: true })).toEqual(['--force flag specified']);
  });
});

describe('stale', () => {
  test('lock file missing triggers full run', () => {
    expect(sentences({ records: [], hasLockFile: false })).toEqual(['no lock file found — first run']);
  });

  test('cache miss explains a new stage', () => {
    expect(sentences({ records: [] })).toEqual(['stage not found in lock file — new stage']);
  });

  test('cache miss explains param change', () => {
    expect(sentences({ current: currently(otherParams) })).toEqual([
      'params_hash changed: whisper_model "moonshine-tiny" → "moonshine-base"',
    ]);
  });

  test('cache miss explains upstream rerun', () => {
    const reran = [upstream({ stage: stage('transcribe'), reran: ['audio/'] })];
    expect(sentences({ current: currently(otherDeps), upstream: reran })).toEqual([
      "deps_hash changed: audio/ (upstream 'transcribe' re-ran)",
    ]);
  });

  test('cache miss explains every difference, not only the first', () => {
    const current = currently({ ...otherParams, deps: otherDeps.deps, action: { kind: 'none' } });
    expect(sentences({ current }).map((text) => text.split(' ')[0])).toEqual([
      'cmd_hash',
      'params_hash',
      'deps_hash',
    ]);
  });

  test('cache miss compares with the newest record', () => {
    const records = [record({ cacheKey: keyOf(otherDeps), preimage: otherDeps }), record()];
    const current = currently({ ...otherDeps, params: {} });
    expect(sentences({ records, current })).toEqual([
      'params_hash changed: whisper_model "moonshine-tiny" → (none)',
    ]);
  });

  test('cache miss without a preimage still has a reason', () => {
    expect(sentences({ records: [record({ preimage: null })], current: currently(otherDeps) })).toEqual([
      'cache_key changed (what it was made of is not recorded)',
    ]);
  });

  test('a key nobody could compute is never fresh', () => {
    expect(sentences({ current: null })).toHaveLength(1);
  });

  test.each<[string, Partial<StateFacts>, string]>([
    ['an output that is gone', { outs: [{ path: 'text.json', hash: null }] }, 'output missing: text.json'],
    [
      'an output that differs and was not seen being made',
      { outs: [{ path: 'text.json', hash: C }] },
      'output differs from what was recorded: text.json [blake3:bbbbbbbb → blake3:cccccccc]',
    ],
    ['an invalidation', { invalidatedBy: 'petra' }, 'invalidated by petra'],
    [
      'something stale before it',
      { upstream: [upstream({ status: 'stale', entity: 'lecture-01' as EntityId })], current: null },
      "upstream 'extract@lecture-01' is stale",
    ],
    ['being due', { due: true }, 'runs every time (deterministic: false, or nothing before it)'],
    ['force', { forced: true }, '--force flag specified'],
  ])('%s makes it stale', (_, parts, sentence) => {
    expect(sentences(parts)).toEqual([sentence]);
  });
});

describe('edited', () => {
  const outs = [{ path: 'text.json', hash: C }];

  test('an output a person changed is settled', () => {
    expect(judge(facts({ editable: true, outs }))).toEqual({
      verdict: 'edited',
      paths: ['text.json'],
      outdated: [],
    });
  });

  test('an edited output whose inputs changed is outdated, and not made again', () => {
    expect(judge(facts({ editable: true, outs, current: currently(otherParams) }))).toMatchObject({
      verdict: 'edited',
      outdated: [{ reason: 'param-changed' }],
    });
  });

  test('bytes that any record knows are no edit', () => {
    const older = record({
      cacheKey: keyOf(otherParams),
      preimage: otherParams,
      outs: [{ path: 'text.json', hash: C }],
    });
    expect(judge(facts({ editable: true, outs, records: [record(), older] })).verdict).toBe('stale');
  });

  test('a deleted output is no edit', () => {
    expect(judge(facts({ editable: true, outs: [{ path: 'text.json', hash: null }] })).verdict).toBe('stale');
  });

  test.each<[string, Partial<StateFacts>]>([
    ['--force', { forced: true }],
    ['an invalidation', { invalidatedBy: 'petra' }],
  ])('%s makes an edited output again', (_, parts) => {
    expect(judge(facts({ editable: true, outs, ...parts })).verdict).toBe('stale');
  });
});

describe('waiting, blocked, exhausted', () => {
  test('a missing input is waited for by name, even if forced', () => {
    const waiting = { verdict: 'waiting', cause: { wait: 'missing', paths: ['words.txt'] }, reasons: [] };
    expect(judge(facts({ missing: ['words.txt'], current: null }))).toEqual(waiting);
    expect(judge(facts({ missing: ['words.txt'], forced: true }))).toEqual(waiting);
  });

  test('what gave up blocks, and only that is named', () => {
    const before = [upstream({}), upstream({ stage: stage('split'), status: 'gave-up' })];
    expect(judge(facts({ upstream: before }))).toEqual({
      verdict: 'blocked',
      by: [{ stage: 'split', entity: '' }],
    });
  });

  const failed = (parts: object) => ({
    current: currently(otherDeps),
    failure: {
      cacheKey: keyOf(otherDeps),
      attempt: 2,
      error: 'exit 137\n',
      exhausted: false,
      nextRetryMs: null,
      ...parts,
    },
  });
  const told = [
    'deps_hash changed: audio/ [blake3:aaaaaaaa → blake3:cccccccc]',
    'last attempt failed (attempt 2): exit 137\\n',
  ];

  test('a failure whose retry time has come is stale and tells of the failure', () => {
    expect(sentences(failed({}))).toEqual(told);
    expect(sentences(failed({ nextRetryMs: 1_000 }))).toEqual(told);
  });

  test('a failure whose retry time has not come waits for it', () => {
    const verdict = judge(facts(failed({ nextRetryMs: 1_001 })));
    expect(verdict).toMatchObject({ verdict: 'waiting', cause: { wait: 'retry', atMs: 1_001 } });
    expect(verdict.verdict === 'waiting' && verdict.reasons.map(explain)).toEqual(told);
  });

  test('after the last retry it is exhausted, with its reasons', () => {
    const verdict = judge(facts(failed({ exhausted: true })));
    expect(verdict.verdict === 'exhausted' && verdict.reasons.map(explain)).toEqual(told);
  });

  test('a failure of another key does not count', () => {
    expect(sentences(failed({ cacheKey: keyOf(otherParams), exhausted: true }))).toEqual(told.slice(0, 1));
  });
});

/** Keyed by the reason's name, so that a new kind without a sentence here does not compile. */
const SENTENCES: { readonly [K in Reason['reason']]: readonly [Extract<Reason, { reason: K }>, string] } = {
  'no-lock-file': [{ reason: 'no-lock-file' }, 'no lock file found — first run'],
  'new-stage': [{ reason: 'new-stage' }, 'stage not found in lock file — new stage'],
  'cmd-changed': [{ reason: 'cmd-changed' }, 'cmd_hash changed (command template modified)'],
  'code-changed': [
    { reason: 'code-changed', path: 'run.py', old: A, now: B },
    'cmd_hash changed: run.py [blake3:aaaaaaaa → blake3:bbbbbbbb]',
  ],
  'param-changed': [{ reason: 'param-changed', name: 'n', now: [1] }, 'params_hash changed: n (none) → [1]'],
  'dep-changed': [
    { reason: 'dep-changed', path: 'in\n', old: null, now: B },
    'deps_hash changed: in\\n [new: blake3:bbbbbbbb]',
  ],
  'upstream-reran': [
    { reason: 'upstream-reran', path: 'in', stage: stage('s'), old: A, now: B },
    "deps_hash changed: in (upstream 's' re-ran)",
  ],
  'deps-reordered': [{ reason: 'deps-reordered' }, 'deps_hash changed (deps listed in another order)'],
  'key-changed': [{ reason: 'key-changed' }, 'cache_key changed (what it was made of is not recorded)'],
  'output-missing': [{ reason: 'output-missing', path: 'out' }, 'output missing: out'],
  'output-differs': [
    { reason: 'output-differs', path: 'out', old: A, now: B },
    'output differs from what was recorded: out [blake3:aaaaaaaa → blake3:bbbbbbbb]',
  ],
  'last-attempt-failed': [
    { reason: 'last-attempt-failed', attempt: 3, error: 'exit 1' },
    'last attempt failed (attempt 3): exit 1',
  ],
  invalidated: [{ reason: 'invalidated', by: 'petra' }, 'invalidated by petra'],
  'upstream-stale': [{ reason: 'upstream-stale', stage: stage('s'), entity: NONE }, "upstream 's' is stale"],
  'after-ran': [{ reason: 'after-ran', stage: stage('s') }, "'s', which it comes after, ran"],
  'always-due': [{ reason: 'always-due' }, 'runs every time (deterministic: false, or nothing before it)'],
  forced: [{ reason: 'forced' }, '--force flag specified'],
};

describe('reasons', () => {
  test.each(Object.entries(SENTENCES))('%s has its sentence', (_, [reason, sentence]) => {
    expect(explain(reason)).toBe(sentence);
  });

  test('a dep that is gone is told with the hash it had', () => {
    const gone = reasonFor({ change: 'dep', path: 'in', old: A, now: null }, new Map());
    expect(explain(gone)).toBe('deps_hash changed: in [gone: was blake3:aaaaaaaa]');
  });

  test('deps in another order are told as that', () => {
    expect(reasonFor({ change: 'deps-order' }, new Map())).toEqual({ reason: 'deps-reordered' });
  });

  test('a state is named by its stage and entity', () => {
    expect(stateName(stage('s'), 'a/b' as EntityId)).toBe('s@a/b');
    expect(stateName(stage('s'), NONE)).toBe('s');
  });
});
