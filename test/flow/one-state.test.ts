// `--stage` for one state: it and what it needs, and of every other state nothing.

import { describe, expect, test } from 'vitest';
import { project } from '../rig/project.ts';

const step = (name: string, from: string, to: string, more = '') =>
  `  "${name}": {cmd: "echo $SLUICE_STAGE@$SLUICE_ENTITY >> runs.log; cat {{deps[0].path}} > {{outs[0].path}}", deps: ["${from}"], outs: ["${to}"]${more}}\n`;

const chain = () =>
  project({
    'p.yaml': `stages:\n${step('clean_{x}', 'raw/{x}', 'clean/{x}')}${step('cut', 'clean/{x}', 'cut/{x}')}${step('all', 'cut/{x}', 'all.txt')}  tell: {cmd: "echo tell@ >> runs.log", after: [all]}\n`,
    ...{ 'raw/a': 'a', 'raw/b': 'b' },
  });

type Project = ReturnType<typeof project>;
const log = (p: Project) => (p.has('runs.log') ? p.read('runs.log').trim().split('\n').toSorted() : []);

describe('--stage of one state', () => {
  test.each([
    ['STAGE@ENTITY', 'cut@a', ['clean_{x}@a', 'cut@a']],
    ['the name it is shown by', 'clean_a', ['clean_{x}@a']],
    ['what collects needs them all', 'all', ['all@', 'clean_{x}@a', 'clean_{x}@b', 'cut@a', 'cut@b']],
  ])('%s makes it and the upstream that it needs', async (_, asked, ran) => {
    const p = chain();
    const plan = JSON.parse(
      (await p.sluice('run', 'p.yaml', '--dry-run', '--json', '--stage', asked)).stdout,
    );
    expect(plan.would_run + plan.would_follow).toBe(ran.length);
    const run = await p.run('--stage', asked);
    expect(run).toMatchObject({ code: 0, status: 'completed', states_run: ran.length, states_cached: 0 });
    expect(log(p)).toEqual(ran);
    expect(await p.run('--stage', asked)).toMatchObject({ states_run: 0, states_cached: ran.length });
  });

  test('forced, it and what is made from it are made again, and neither its upstream nor its siblings', async () => {
    const p = chain();
    await p.run();
    p.write('runs.log', '');
    expect(await p.run('--stage', 'cut@a', '--force')).toMatchObject({ code: 0, states_run: 3 });
    expect(log(p)).toEqual(['all@', 'cut@a', 'tell@']);
  });

  test('a failure elsewhere is none of its business, and one above it is', async () => {
    const p = chain();
    p.write('p.yaml', p.read('p.yaml').replace('cat {{deps[0]', 'grep -v b {{deps[0]'));
    expect(await p.run('--stage', 'cut@a')).toMatchObject({ code: 0, states_run: 2 });
    const run = await p.run('--stage', 'cut@b');
    expect(run).toMatchObject({ code: 1, status: 'failed' });
    expect(run.states.map(({ stage, entity, status }) => [`${stage}@${entity}`, status])).toEqual([
      ['clean_{x}@b', 'failed'],
      ['cut@b', 'skipped'],
    ]);
    expect(await p.run('--stage', 'cut@a')).toMatchObject({ code: 0, states_run: 0, states_cached: 2 });
  });

  test('that there is none of is refused with what there is, and nothing runs', async () => {
    const p = chain();
    const { code, stderr } = await p.sluice('run', 'p.yaml', '--stage', 'cut@c');
    expect(code).toBe(1);
    expect(stderr).toMatch(/stage 'cut' has no 'c'; it has a, b/);
    expect(log(p)).toEqual([]);
  });
});
