// What a run does beyond plain stages: retries, resources, fan-out, nodes, jobs, code files, sources that vanish.

import { rmSync, utimesSync } from 'node:fs';
import { createServer } from 'node:http';
import type { AddressInfo } from 'node:net';
import { join } from 'node:path';
import { describe, expect, onTestFinished, test } from 'vitest';
import { project } from '../rig/project.ts';

describe('retry', () => {
  test('is bounded: with a limit of 3 a command that always fails runs four times', async () => {
    const p = project({
      'p.yaml': `
stages:
  a: {cmd: "echo a >> runs.log; exit 1", outs: [o], retry: {limit: 3, policy: on_failure, backoff: {initial: 10ms, factor: 1}}}
`,
    });
    expect(await p.run()).toMatchObject({ code: 1, states: [{ status: 'failed' }], states_run: 1 });
    expect(p.runs('a')).toBe(4);
  });

  test('ends with the first attempt that goes well', async () => {
    const p = project({
      'p.yaml': `
stages:
  a:
    cmd: |
      echo a >> runs.log
      test "$(wc -l < runs.log)" -ge 2
      echo done > {{outs[0].path}}
    outs: [o]
    retry: {limit: 3, policy: on_failure, backoff: {initial: 10ms, factor: 1}}
`,
    });
    const run = await p.run();
    expect(run).toMatchObject({ code: 0, states: [{ status: 'completed' }] });
    expect(run.stderr).toMatch(/^! a failed \(exit code 1\); attempt 2 in \d+ms$/m);
    expect(p.runs('a')).toBe(2);
    expect(p.read('p.events.jsonl')).toContain('"event":"stage_retry"');
  });
});

describe('resources', () => {
  const greedy = (stages: string, targets = '') => project({ 'p.yaml': `${targets}\nstages:\n${stages}` });

  test('resource scheduler respects core limit: 4-core commands on 8 cores run two at a time', async () => {
    const stage = (name: string) => `
  ${name}:
    cmd: |
      mkdir -p live && touch live/${name}
      ls live | wc -l >> most.log
      sleep 0.05
      rm live/${name}
      echo 1 > {{outs[0].path}}
    outs: [${name}.txt]
    resources: {cores: 4}`;
    const p = greedy(['a', 'b', 'c', 'd'].map(stage).join(''));
    expect(await p.run('--jobs', '8')).toMatchObject({ code: 0, states_run: 4 });
    const most = Math.max(...p.read('most.log').trim().split('\n').map(Number));
    expect(most).toBe(2);
  });

  test('what can never fit is told before anything runs', async () => {
    const p = greedy('  a: {cmd: "touch ran", resources: {gpu: 1}}');
    const { code, stderr } = await p.sluice('run', 'p.yaml');
    expect(code).toBe(1);
    expect(stderr).toContain("stage 'a' needs 1 gpu, and this machine has 0");
    expect(p.has('ran')).toBe(false);
  });
});

describe('fan-out', () => {
  const FANNED = (parallel: string, cmd: string) => ({
    'p.yaml': `
stages:
  up:
    cmd: |
      echo up >> {{root}}/runs.log
      ${cmd}
    deps: [{path: in/, type: directory}]
    outs: [{path: out/}]
    parallel: ${parallel}
  all: {cmd: "cat out/*.txt out/*/*.txt > {{outs[0].path}}", deps: [out/], outs: [all.txt]}
`,
    'in/a.txt': 'a\n',
    'in/b.txt': 'b\n',
    'in/deep/c.txt': 'c\n',
    'in/not.md': 'no\n',
  });

  test('per_file makes one state per file that the glob picks, and only what changed is made again', async () => {
    const p = project(
      FANNED('{strategy: per_file, glob: "**/*.txt", max_workers: 2}', 'tr a-z A-Z < {{input}} > {{output}}'),
    );
    expect(await p.run()).toMatchObject({ code: 0, states_run: 4 });
    expect(p.read('out/deep/c.txt')).toBe('C\n');
    expect(p.read('all.txt')).toBe('A\nB\nC\n');
    p.write('in/b.txt', 'bb\n');
    expect(await p.run()).toMatchObject({ code: 0, states_run: 2, states_cached: 2 });
    expect(p.runs('up')).toBe(4);
    expect(p.read('all.txt')).toBe('A\nBB\nC\n');
  });

  test('a job that takes no output leaves it in its work directory', async () => {
    const p = project(
      FANNED('{strategy: per_file, glob: "**/*.txt"}', 'tr a-z A-Z < {{input}} > {{input_stem}}.txt'),
    );
    expect(await p.run()).toMatchObject({ code: 0, states_run: 4 });
    expect(p.read('out/deep/c.txt')).toBe('C\n');
  });

  test('chunked gives several files to one command', async () => {
    const p = project(
      FANNED(
        '{strategy: chunked, chunk_size: 2, glob: "*.txt"}',
        'for f in {{inputs}}; do tr a-z A-Z < "$f" > "$(basename "$f")"; done',
      ),
    );
    p.write('p.yaml', p.read('p.yaml').replace(' out/*/*.txt', ''));
    expect(await p.run('--jobs', '1')).toMatchObject({ code: 0 });
    expect(p.read('all.txt')).toBe('A\nB\n');
    expect(p.runs('up')).toBe(1);
  });

  test('parallel fan-out gives the same output as sequential', async () => {
    const one = project(
      FANNED('{strategy: per_file, glob: "**/*.txt", max_workers: 1}', 'rev {{input}} > {{output}}'),
    );
    const many = project(
      FANNED('{strategy: per_file, glob: "**/*.txt", max_workers: 16}', 'rev {{input}} > {{output}}'),
    );
    await one.run('--jobs', '1');
    await many.run('--jobs', '16');
    expect(many.read('all.txt')).toBe(one.read('all.txt'));
  });
});

describe('a pipeline', () => {
  test('runs http, if and notify nodes; what the condition leaves out is skipped', async () => {
    const posts: string[] = [];
    const server = createServer((request, response) => {
      let body = '';
      request.on('data', (chunk) => {
        body += chunk;
      });
      request.on('end', () => {
        posts.push(`${request.url} ${body}`);
        response.end(JSON.stringify({ score: body.includes('good') ? 9 : 3 }));
      });
    }).listen(0, '127.0.0.1');
    onTestFinished(() => void server.close());
    await new Promise((resolve) => server.once('listening', resolve));
    const url = `http://127.0.0.1:${(server.address() as AddressInfo).port}`;
    const p = project({
      'p.yaml': JSON.stringify({
        mode: 'pipeline',
        stateRoot: 'data/',
        stages: [
          { id: 'items', type: 'source', pattern: 'feeds/{feed}/{guid}.json' },
          {
            id: 'scores',
            type: 'transform',
            input: 'items',
            pattern: 'scores/{feed}/{guid}.json',
            node: {
              typeId: 'http',
              data: {
                url: `${url}/score`,
                method: 'POST',
                body_mode: 'json',
                json_body: '{"url": "{{$.items.content.link}}"}',
              },
            },
          },
          {
            id: 'told',
            type: 'transform',
            input: 'scores',
            pattern: 'told/{feed}/{guid}.json',
            node: { typeId: 'if', data: { condition: '{{$.scores.content.score >= 8}}' } },
            // biome-ignore lint/suspicious/noThenProperty: a pipeline's own word
            then: { typeId: 'notify', data: { url: `${url}/hook`, message: '{{$.items.content.title}}' } },
          },
        ],
      }),
      'data/feeds/hn/1.json': JSON.stringify({ link: 'http://x/good', title: 'A "good" one' }),
      'data/feeds/hn/2.json': JSON.stringify({ link: 'http://x/dull', title: 'dull' }),
    });
    expect(await p.run()).toMatchObject({ code: 0, status: 'completed' });
    expect(posts.filter((post) => post.startsWith('/hook'))).toEqual([
      '/hook {"text":"A "good" one"}'.replaceAll('"good"', '\\"good\\"'),
    ]);
    expect(p.has('data/told/hn/2.json')).toBe(false);
    expect(await p.run()).toMatchObject({ code: 0, states_run: 0 });
  });

  test('a node that can never go well is refused before anything runs, and not tried again and again', async () => {
    const p = project({
      'p.yaml': `
mode: pipeline
stateRoot: .
stages:
  - {id: a, type: source, pattern: "in/{x}"}
  - {id: b, type: transform, input: a, pattern: "out/{x}", node: {typeId: set, data: {valu: {x: 1}}}}
`,
      'in/1': '1',
    });
    const { code, stderr } = await p.sluice('run', 'p.yaml');
    expect(code).toBe(2);
    expect(stderr).toContain("stage 'b': set: unknown key 'valu'");
    expect(p.has('p.events.jsonl')).toBe(false);
  });

  test('an output that is too small is refused before it is seen, and what stood there stays', async () => {
    const p = project({
      'p.yaml': `
mode: pipeline
stateRoot: data
retryPolicy: {maxAttempts: 1, backoffSeconds: [1]}
stages:
  - {id: log, type: source, pattern: "logs/{d}.txt"}
  - {id: sum, type: transform, input: log, pattern: "sums/{d}.txt", validation: {minSize: 6},
     node: {typeId: command, data: {cmd: "cp {{input}} {{output}}"}}}
`,
      'data/logs/a.txt': 'short',
      'data/logs/b.txt': 'long enough',
    });
    const failed = [{ status: 'failed', error: expect.stringContaining('has 5 bytes') }];
    expect((await p.run()).states.filter(({ status }) => status === 'failed')).toMatchObject(failed);
    expect(p.has('data/sums/a.txt')).toBe(false);
    p.write('data/logs/b.txt', 'brief');
    await p.run();
    expect(p.read('data/sums/b.txt')).toBe('long enough');
  });
});

test('a job runs its tasks in order every time, with its config', async () => {
  const p = project({
    'p.yaml': `
name: nightly
schedule: "0 0 2 * * *"
config: {where: data}
tasks:
  load: {type: command, program: sh, args: ["-c", "cat order.log > loaded; echo load >> order.log"], depends_on: [extract]}
  extract: {type: command, program: sh, args: ["-c", 'echo "extract $WHERE" >> order.log'], env: {WHERE: "\${config.where}"}}
`,
  });
  expect(await p.run()).toMatchObject({ code: 0, states_run: 2 });
  expect(p.read('order.log')).toBe('extract data\nload\n');
  expect(await p.run()).toMatchObject({ code: 0, states_run: 2 });
});

test('a changed code file makes the stage stale, and says which', async () => {
  const p = project({
    'p.yaml': 'stages: {a: {cmd: "sh tool.sh > {{outs[0].path}}", code: [tool.sh], outs: [o]}}',
    'tool.sh': 'echo 1\n',
  });
  await p.run();
  expect(await p.run()).toMatchObject({ states_run: 0 });
  p.write('tool.sh', 'echo 2\n');
  const run = await p.run();
  expect(run.states).toMatchObject([{ stage: 'a', reasons: [expect.stringContaining('tool.sh')] }]);
  expect(p.read('o')).toBe('2\n');
});

test('with on_source_removed: clean the outputs of a vanished source go too', async () => {
  const p = project({
    'p.yaml': `
policy: {on_source_removed: clean}
stages:
  up_{x}: {cmd: "cp {{deps[0].path}} {{outs[0].path}}", deps: ["in/{x}"], outs: ["mid/{x}"]}
  end_{x}: {cmd: "cp {{deps[0].path}} {{outs[0].path}}", deps: ["mid/{x}"], outs: ["out/{x}"]}
`,
    'in/a': 'a',
    'in/b': 'b',
  });
  await p.run();
  rmSync(join(p.root, 'in/a'));
  expect(await p.run()).toMatchObject({ code: 0 });
  expect([p.has('mid/a'), p.has('out/a'), p.has('out/b')]).toEqual([false, false, true]);
});

test('--stage makes a stage and the upstream it needs; with --force its downstream and not its upstream', async () => {
  const p = project({
    'p.yaml': `
stages:
  a: {cmd: "echo a >> runs.log; echo a > {{outs[0].path}}", outs: [a.txt]}
  b: {cmd: "echo b >> runs.log; cp {{deps[0].path}} {{outs[0].path}}", deps: [a.txt], outs: [b.txt]}
  c: {cmd: "echo c >> runs.log; cp {{deps[0].path}} {{outs[0].path}}", deps: [b.txt], outs: [c.txt]}
`,
  });
  expect(await p.run('--stage', 'b')).toMatchObject({ code: 0, states_run: 2 });
  expect(p.has('c.txt')).toBe(false);
  await p.run();
  expect(await p.run('--stage', 'b', '--force')).toMatchObject({ code: 0, states_run: 2 });
  expect([p.runs('a'), p.runs('b'), p.runs('c')]).toEqual([1, 2, 2]);
});

test('the lock file is written again when somebody has removed it, and nothing runs', async () => {
  const p = project({
    'p.yaml':
      'stages: {"a_{x}": {cmd: "cp {{deps[0].path}} {{outs[0].path}}", deps: ["in/{x}"], outs: ["out/{x}"]}}',
    'in/a': 'a',
    'in/b': 'b',
  });
  await p.run();
  rmSync(join(p.root, 'p.lock.yaml'));
  expect(await p.run()).toMatchObject({ states_run: 0, states_cached: 2 });
  expect(p.read('p.lock.yaml')).toContain('out/b');
});

describe('a run with nothing to do, after one that had nothing to do', () => {
  const settled = async () => {
    const p = project({
      'p.yaml':
        'stages: {"a_{x}": {cmd: "echo a >> runs.log; cp {{deps[0].path}} {{outs[0].path}}", deps: ["in/{x}"], outs: ["out/{x}"]}}',
      'in/a': 'a',
    });
    await p.run();
    // The stamps of what was just written are too young to be relied on for an instant.
    await expect
      .poll(async () => (await p.run()) && p.has('.sluice/clean/p.yaml'), { timeout: 10_000 })
      .toBe(true);
    return p;
  };

  test('is told so from a snapshot, in the same words, and is in the event log', async () => {
    const p = await settled();
    const before = p.read('p.events.jsonl').split('run_completed').length;
    expect(await p.run()).toMatchObject({
      code: 0,
      status: 'completed',
      states_run: 0,
      states_cached: 1,
      states: [],
    });
    expect(p.read('p.events.jsonl').split('run_completed').length).toBe(before + 1);
  });

  test('asks only for the bytes of what was touched: nobody takes the project to open its database', async () => {
    const p = await settled();
    rmSync(join(p.root, '.sluice/owner.db'));
    utimesSync(join(p.root, 'in/a'), 1, 1);
    utimesSync(join(p.root, 'out/a'), 1, 1);
    utimesSync(join(p.root, 'p.yaml'), 1, 1);
    expect(await p.run()).toMatchObject({ code: 0, states_run: 0, states_cached: 1 });
    expect(p.has('.sluice/owner.db')).toBe(false);
  });

  test.each<readonly [string, (p: ReturnType<typeof project>) => void]>([
    ['an input changes', (p) => p.write('in/a', 'b')],
    ['an input comes', (p) => p.write('in/b', 'b')],
    ['an output goes', (p) => rmSync(join(p.root, 'out/a'))],
    ['the workflow changes', (p) => p.write('p.yaml', p.read('p.yaml').replace('echo a', 'echo  a'))],
  ])('looks again when %s', async (_, change) => {
    const p = await settled();
    change(p);
    expect(await p.run()).toMatchObject({ code: 0, states_run: 1 });
  });
});
