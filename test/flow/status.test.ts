import { rmSync } from 'node:fs';
import { join } from 'node:path';
import { describe, expect, test } from 'vitest';
import { takeOwnership } from '../../host/owner.ts';
import { runSluice } from '../rig/cli.ts';
import { project } from '../rig/project.ts';
import { FAILING, WORDS, words } from './words.ts';

interface Status {
  readonly workflow: string;
  readonly counts: Readonly<Record<string, number>>;
  readonly states: readonly {
    stage: string;
    entity: string;
    status: string;
    reasons: string[];
    cache_key: string | null;
    content_hash: string | null;
  }[];
}

async function statusOf(p: ReturnType<typeof words>, ...args: string[]) {
  const { code, stdout, stderr } = await p.sluice('status', 'p.yaml', '--json', ...args);
  if (code !== 0) throw new Error(stderr);
  return JSON.parse(stdout) as Status;
}

describe('status', () => {
  test('before the first run everything is stale or waits, and nothing is run', async () => {
    const p = words();
    const { counts, states } = await statusOf(p);
    expect(counts).toMatchObject({ stale: 2, waiting: 1, fresh: 0 });
    expect(states.map(({ stage, entity, status }) => [stage, entity, status])).toEqual([
      ['count_{text}', 'a', 'stale'],
      ['count_{text}', 'b', 'stale'],
      ['sum', '', 'waiting'],
    ]);
    expect(states[2]!.reasons).toEqual(['waits for count_a, count_b']);
    expect(p.has('runs.log') || p.has('p.lock.yaml') || p.has('p.events.jsonl')).toBe(false);
  });

  test('after a run all is settled, each state with its key and content', async () => {
    const p = words();
    await p.run();
    const { workflow, counts, states } = await statusOf(p);
    expect([workflow, counts.fresh, states.length]).toEqual(['p', 3, 3]);
    for (const { cache_key, content_hash } of states)
      expect([cache_key, content_hash]).toEqual([
        expect.stringMatching(/^blake3:/),
        expect.stringMatching(/^blake3:/),
      ]);
    expect((await p.sluice('status', 'p.yaml')).stdout).toContain('All 3 states are settled.');
  });

  test('sees what changed on disk since, without a run', async () => {
    const p = words();
    await p.run();
    p.write('texts/a.txt', 'x y z w\n');
    const { states } = await statusOf(p);
    expect(states.map(({ status }) => status)).toEqual(['stale', 'fresh', 'fresh']);
    expect(states[0]!.reasons[0]).toMatch(/deps_hash changed: texts\/a\.txt \[blake3:.* → blake3:.*\]/);
    expect(p.runs('count')).toBe(2);
    expect(await p.run()).toMatchObject({ states_run: 2 });
  });

  test('a fresh clone with its outputs is fresh before anything was run in it', async () => {
    const p = words();
    await p.run();
    rmSync(join(p.root, '.sluice'), { recursive: true });
    expect((await statusOf(p)).counts).toMatchObject({ fresh: 3, stale: 0, waiting: 0 });
  });

  test('a param that is changed and changed back leaves everything fresh', async () => {
    const p = words();
    await p.run();
    p.write('p.yaml', WORDS.replace('Words', 'Numbers'));
    expect((await statusOf(p)).states[2]).toMatchObject({
      status: 'stale',
      reasons: ['params_hash changed: title "Words" → "Numbers"'],
    });
    p.write('p.yaml', WORDS);
    expect((await statusOf(p)).counts.fresh).toBe(3);
  });

  test("tells a person's edit and a frozen stage", async () => {
    const p = words();
    await p.run();
    p.write('counts/a.txt', '99\n');
    p.write('p.yaml', WORDS.replace('  sum:\n', '  sum:\n    frozen: true\n'));
    const { stdout } = await p.sluice('status', 'p.yaml');
    expect(stdout).toMatch(/count_\{text\} +1 fresh, 1 edited/);
    expect(stdout).toMatch(/edited +count_a +changed by hand; --force makes it again/);
    expect(stdout).toMatch(/sum \[FROZEN\] +1 fresh/);
  });

  test('lists a bounded number of states, and says how many more there are', async () => {
    const texts = Object.fromEntries(
      Array.from({ length: 40 }, (_, i) => [`texts/t${String(i).padStart(2, '0')}.txt`, `${i}\n`]),
    );
    const { stdout } = await words(texts).sluice('status', 'p.yaml');
    expect(stdout.match(/^ {2}stale /gm)).toHaveLength(20);
    expect(stdout).toContain('… and 23 more; --json lists all');
  });

  test('--stage takes a stage, and one state of it', async () => {
    const p = words();
    expect((await statusOf(p, '--stage', 'count_{text}')).states).toHaveLength(2);
    expect((await statusOf(p, '--stage', 'count_b')).states).toMatchObject([{ entity: 'b' }]);
    const { code, stderr } = await p.sluice('status', 'p.yaml', '--stage', 'sim');
    expect([code, stderr]).toEqual([1, expect.stringContaining("did you mean 'sum'?")]);
  });

  test('a failure is told with its error, and what waits for it as blocked', async () => {
    const p = project({ 'p.yaml': FAILING, 'in.txt': '' });
    await p.run();
    const { stdout } = await p.sluice('status', 'p.yaml');
    expect(stdout).toMatch(/exhausted +bad +.*exit code 3/);
    expect(stdout).toMatch(/waiting +after_bad +blocked by bad/);
    expect(stdout).toContain('sluice debug p.yaml --stage bad');
  });

  test('a missing input is named', async () => {
    const p = project({ 'p.yaml': FAILING });
    expect((await p.sluice('status', 'p.yaml')).stdout).toMatch(/waiting +bad +missing in\.txt/);
  });

  test('without a name tells all workflows of the project, and a name will do for one', async () => {
    const p = words({ 'q.yaml': FAILING, 'in.txt': '' });
    await p.run();
    await p.sluice('run', 'q.yaml');
    expect((await p.sluice('status')).stdout).toBe('p  3 fresh\nq  1 exhausted, 1 waiting\n');
    expect((await p.sluice('status', 'q')).stdout).toMatch(/^q\n {2}bad/);
  });

  test.each([
    ['no database yet', ['status'], 1, /nothing is known here yet.*\n.*sluice run FILE/],
    ['a missing file', ['status', 'nope.yaml'], 2, /nope\.yaml does not exist/],
    ['no database yet for a name', ['status', 'nope'], 1, /nothing is known here yet/],
  ])('%s is told with the next step, and makes nothing', async (_title, args, code, told) => {
    const p = project({});
    expect(await p.sluice(...args)).toMatchObject({ code, stderr: expect.stringMatching(told) });
    expect(p.has('.sluice')).toBe(false);
  });

  test('an unknown name is told with the nearest', async () => {
    const p = words();
    await p.run();
    const { code, stderr } = await p.sluice('status', 'o');
    expect([code, stderr]).toEqual([1, expect.stringContaining("there is no workflow 'o'")]);
  });

  test('while a run owns the place it says so with exit code 4', async () => {
    const p = words();
    await p.run();
    const owner = takeOwnership(join(p.root, '.sluice', 'owner.db'));
    try {
      expect(await p.sluice('status', 'p.yaml')).toMatchObject({
        code: 4,
        stderr: expect.stringContaining('another sluice is working here'),
      });
    } finally {
      owner!.release();
    }
  });

  test('has colours only where they are wanted', async () => {
    const p = words();
    const args = ['status', 'p.yaml'];
    expect((await runSluice(args, { cwd: p.root, env: { FORCE_COLOR: '1' } })).stdout).toContain('\x1b[33m');
    const env = { FORCE_COLOR: '1', NO_COLOR: '1' };
    expect((await runSluice(args, { cwd: p.root, env })).stdout).not.toContain('\x1b');
  });
});

describe('why', () => {
  test('goes down to the file that changed', async () => {
    const p = words();
    await p.run();
    p.write('texts/a.txt', 'x y z w\n');
    const { code, stdout } = await p.sluice('why', 'p.yaml', 'sum');
    expect(code).toBe(0);
    expect(stdout).toMatch(
      /^sum is fresh, but what it is made from is not\n└── count_a is stale\n {4}└── deps_hash changed: texts\/a\.txt \[blake3:\w+ → blake3:\w+\]\n$/,
    );
  });

  test('names the param that changed', async () => {
    const p = words();
    await p.run();
    p.write('p.yaml', WORDS.replace('Words', 'Numbers'));
    const { stdout } = await p.sluice('why', 'p.yaml', 'sum');
    expect(stdout).toBe('sum is stale\n└── params_hash changed: title "Words" → "Numbers"\n');
  });

  test.each(['count_a', 'count_{text}@a'])('takes a state as %s', async (written) => {
    const p = words();
    await p.run();
    expect((await p.sluice('why', 'p.yaml', written)).stdout).toMatch(/^count_a is fresh/);
  });

  test('a stage named as a whole tells what of it is not settled', async () => {
    const p = words();
    await p.run();
    p.write('texts/b.txt', 'x y z w\n');
    expect((await p.sluice('why', 'p.yaml', 'count_{text}')).stdout).toMatch(/^count_b is stale\n└── .*\n$/);
  });

  test('--json is the tree', async () => {
    const { stdout } = await words().sluice('why', 'p.yaml', 'sum', '--json');
    expect(JSON.parse(stdout)).toMatchObject({
      stage: 'sum',
      word: 'waiting',
      upstream: [{ entity: 'a', reasons: [{ sentence: 'no lock file found — first run' }] }, { entity: 'b' }],
    });
  });

  test.each([
    ['an unknown stage', ['why', 'p.yaml', 'sun'], 1, "did you mean 'sum'?"],
    ['an unknown entity', ['why', 'p.yaml', 'count_zzz'], 1, "there is no entity 'zzz'"],
    ['no stage at all', ['why', 'p.yaml'], 1, 'why needs STAGE[@ENTITY]'],
    ['a missing file', ['why', 'nope.yaml', 'sum'], 2, 'does not exist'],
  ])('%s is told with the next step', async (_title, args, code, told) => {
    expect(await words().sluice(...args)).toMatchObject({ code, stderr: expect.stringContaining(told) });
  });
});

describe('run --dry-run', () => {
  const plan = async (p: ReturnType<typeof words>, ...args: string[]) => {
    const { code, stdout, stderr } = await p.sluice('run', 'p.yaml', '--dry-run', '--json', ...args);
    if (code !== 0) throw new Error(stderr);
    const { states, ...rest } = JSON.parse(stdout);
    const told = states.map((each: Record<string, string>) => [each.stage, each.entity, each.status]);
    return { ...rest, states, told };
  };

  test('shows what would be made and what would follow, and makes nothing', async () => {
    const p = words();
    await p.run();
    const before = ['p.lock.yaml', 'p.events.jsonl', 'sum.txt'].map(p.read);
    p.write('texts/a.txt', 'x y z w\n');
    const { told, cached, states } = await plan(p);
    expect(told).toEqual([
      ['count_{text}', 'a', 'would_run'],
      ['sum', '', 'would_follow'],
    ]);
    expect(cached).toBe(1);
    expect(states[0].reasons[0]).toContain('deps_hash changed: texts/a.txt');
    expect(['p.lock.yaml', 'p.events.jsonl', 'sum.txt'].map(p.read)).toEqual(before);
    expect(await p.run()).toMatchObject({ states_run: 2 });
  });

  test('a first run would make everything; asking twice gives the same answer', async () => {
    const p = words();
    const first = await plan(p);
    expect(first.told.map(([, , status]: string[]) => status)).toEqual([
      'would_run',
      'would_run',
      'would_follow',
    ]);
    expect(await plan(p)).toEqual(first);
    expect(p.has('runs.log')).toBe(false);
    const { stdout } = await p.sluice('run', 'p.yaml', '--dry-run');
    expect(stdout).toMatch(/^▸ would run +count_a {2}no lock file found — first run$/m);
    expect(stdout).toContain('p: 2 would run, 1 would follow, 0 cached; nothing was run');
  });

  test('--set, --force and --stage are as in a run', async () => {
    const p = words();
    await p.run();
    expect((await plan(p, '--set', 'title=Numbers')).told).toEqual([['sum', '', 'would_run']]);
    expect((await plan(p)).told).toEqual([]);
    expect((await plan(p, '--force', '--stage', 'sum')).told).toEqual([['sum', '', 'would_run']]);
    expect((await plan(p, '--force')).told).toHaveLength(3);
    expect(await p.run()).toMatchObject({ states_run: 0, states_cached: 3 });
  });

  test('what failed would be tried again, what has no input waits', async () => {
    const p = project({ 'p.yaml': FAILING, 'in.txt': '' });
    await p.run();
    expect((await plan(p)).told).toEqual([
      ['bad', '', 'would_run'],
      ['after_bad', '', 'would_follow'],
    ]);
    rmSync(join(p.root, 'in.txt'));
    const { states } = await plan(project({ 'p.yaml': FAILING }));
    expect(states[0]).toMatchObject({ stage: 'bad', status: 'waiting', reasons: ['missing in.txt'] });
  });
});
