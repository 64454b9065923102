// Batuta's falsification checklist (§9.4): each hypothesis by its number, tried on the real program and real files.
//
// 6 takes a second machine, 23 to 29 the purifier and compliance checks; 30 to 32 are about `lock --verify`.

import { execFileSync, spawn } from 'node:child_process';
import { rmSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { expect, test, vi } from 'vitest';
import { loadBlake3 } from '../../host/blake3.ts';
import { ignoreRule } from '../../host/ignore.ts';
import { createPathHasher } from '../../host/path-hash.ts';
import { StatCache } from '../../host/stat-cache.ts';
import { parseLockFile } from '../../schema/lock-file.ts';
import { PROGRAM, temporaryFolder } from '../rig/cli.ts';
import { project } from '../rig/project.ts';

type Project = ReturnType<typeof project>;

const copy = (name: string, from: string, to: string, more = '') =>
  `  ${name}: {cmd: "echo ${name} >> runs.log; cat {{deps[0].path}} > {{outs[0].path}}", deps: [${from}], outs: [${to}]${more}}\n`;

/** in.txt → 1.txt → … → n.txt */
const chain = (n: number) =>
  `stages:\n${Array.from({ length: n }, (_, i) => copy(`s${i + 1}`, i === 0 ? 'in.txt' : `${i}.txt`, `${i + 1}.txt`)).join('')}`;

const events = (p: Project) =>
  p
    .read('p.events.jsonl')
    .trim()
    .split('\n')
    .map((line) => JSON.parse(line) as { event: string; stage?: string; run_id?: string });

test('1: lock file guarantees determinism: the same inputs give the same lock file, byte for byte', async () => {
  const files = { 'p.yaml': `policy: {lock_timings: false}\n${chain(3)}`, 'in.txt': 'x\n' };
  const [one, other] = [project(files), project(files)];
  await one.run('--jobs', '1');
  await other.run('--jobs', '8');
  expect(other.read('p.lock.yaml')).toBe(one.read('p.lock.yaml'));
  await one.run();
  expect(other.read('p.lock.yaml')).toBe(one.read('p.lock.yaml'));
});

test('2: cache skip is correct: after one dep has changed only what is downstream of it runs', async () => {
  const stages = copy('left', 'a', 'l') + copy('left2', 'l', 'l2') + copy('right', 'b', 'r');
  const p = project({ 'p.yaml': `stages:\n${stages}`, a: '1', b: '1' });
  await p.run();
  p.write('a', '2');
  expect(await p.run()).toMatchObject({ states_run: 2, states_cached: 1 });
  expect([p.runs('left'), p.runs('left2'), p.runs('right')]).toEqual([2, 2, 1]);
});

test('3: param granularity works: a changed param runs the stages that refer to it and no others', async () => {
  const stage = (name: string) =>
    `  ${name}: {cmd: "echo ${name} >> runs.log; echo {{params.${name}}} > {{outs[0].path}}", outs: [${name}.txt]}\n`;
  const p = project({ 'p.yaml': `params: {a: 1, b: 1}\nstages:\n${stage('a')}${stage('b')}` });
  await p.run();
  expect(await p.run('--set', 'a=2')).toMatchObject({ states_run: 1, states_cached: 1 });
  expect([p.runs('a'), p.runs('b')]).toEqual([2, 1]);
});

test('4: DAG construction is sound: in random graphs nothing runs before what it reads, and exactly what follows a change runs', async () => {
  const random = lcg(4);
  for (let graph = 0; graph < 4; graph++) {
    const readers = Array.from({ length: 12 }, (_, i) => {
      const from = Array.from({ length: i }, (_, j) => j).filter(() => random() < 0.3);
      return from.length === 0 ? ['src'] : from.map((j) => `o${j}`);
    });
    const stages = readers.map(
      (deps, i) =>
        `  s${i}: {cmd: "cat ${deps.join(' ')} > {{outs[0].path}}; echo ${i} >> {{outs[0].path}}; echo s${i} >> runs.log", deps: [${deps.join(', ')}], outs: [o${i}]}`,
    );
    const own = Math.floor(random() * 12);
    // The file lists stages in an order that is of no help.
    const shuffled = stages.map((text) => ({ text, at: random() })).sort((a, b) => a.at - b.at);
    const p = project({ 'p.yaml': `stages:\n${shuffled.map(({ text }) => text).join('\n')}`, src: 'x\n' });
    expect(await p.run('--jobs', '8')).toMatchObject({ code: 0, states_run: 12 });
    const order = p.read('runs.log').trim().split('\n');
    for (const [i, deps] of readers.entries())
      for (const dep of deps.filter((each) => each !== 'src'))
        expect(order.indexOf(`s${dep.slice(1)}`)).toBeLessThan(order.indexOf(`s${i}`));
    const after = new Set([own]);
    for (const [i, deps] of readers.entries())
      if (deps.some((dep) => dep !== 'src' && after.has(Number(dep.slice(1))))) after.add(i);
    p.write('p.yaml', p.read('p.yaml').replace(`; echo ${own} >>`, `; echo other${own} >>`));
    expect(await p.run()).toMatchObject({ states_run: after.size, states_cached: 12 - after.size });
  }
});

const FANNED = (workers: number, cmd = 'rev {{input}} > {{output}}', policy = '') => `
${policy}
stages:
  up:
    cmd: |
      ${cmd}
      echo {{input_stem}} >> {{root}}/runs.log
    deps: [{path: in/}]
    outs: [{path: out/}]
    parallel: {strategy: per_file, glob: "**/*.txt", max_workers: ${workers}}
`;
const inputs = (n: number) =>
  Object.fromEntries(Array.from({ length: n }, (_, i) => [`in/f${i}.txt`, `file ${i}\n`]));

test('5: parallel fan-out produces the same output as sequential: 1 and 16 workers give the same hashes', async () => {
  const [one, many] = [1, 16].map((workers) => project({ 'p.yaml': FANNED(workers), ...inputs(20) }));
  await one!.run('--jobs', '16');
  await many!.run('--jobs', '16');
  const hashes = (p: Project) =>
    [...lockOf(p).get('up')!.entities].map(([entity, { outs }]) => [entity, outs[0]!.hash]);
  expect(hashes(many!)).toHaveLength(20);
  expect(hashes(many!).sort()).toEqual(hashes(one!).sort());
});

test('7: retry is bounded: a limit of 3 gives exactly 3 retries', async () => {
  const p = project({
    'p.yaml':
      'stages: {a: {cmd: "echo a >> runs.log; exit 1", outs: [o], retry: {limit: 3, policy: on_failure, backoff: {initial: 5ms, factor: 1}}}}',
  });
  expect((await p.run()).code).toBe(1);
  expect(events(p).filter(({ event }) => event === 'stage_retry')).toHaveLength(3);
  expect(p.runs('a')).toBe(4);
});

test('8: jidoka stops propagation: after stage 2 of 5 fails, stages 3 to 5 never start', async () => {
  const p = project({
    'p.yaml': chain(5).replace('echo s2 >> runs.log;', 'echo s2 >> runs.log; exit 9;'),
    'in.txt': 'x',
  });
  const run = await p.run();
  expect(run.states.map(({ status }) => status)).toEqual([
    'completed',
    'failed',
    'skipped',
    'skipped',
    'skipped',
  ]);
  expect([1, 2, 3, 4, 5].map((n) => p.runs(`s${n}`))).toEqual([1, 1, 0, 0, 0]);
});

test('9: lock file survives process crash: killed in stage 3 it has stages 1 and 2, and 3 is absent', async () => {
  const p = project({
    'p.yaml': chain(3).replace('echo s3 >> runs.log;', 'echo s3 >> runs.log; cat hold;'),
    'in.txt': 'x',
  });
  execFileSync('mkfifo', [join(p.root, 'hold')]);
  await killWhen(p, () => p.runs('s3') > 0 && p.has('p.lock.yaml') && lockOf(p).has('s2'));
  expect([...lockOf(p).keys()]).toEqual(['s1', 's2']);
  rmSync(join(p.root, 'hold'));
  p.write('hold', '');
  expect(await p.run()).toMatchObject({ code: 0, states_run: 1, states_cached: 2 });
});

test('10: BLAKE3 collision resistance: 100,000 distinct files have 100,000 hashes', () => {
  const root = temporaryFolder();
  const hasher = createPathHasher({
    blake3: loadBlake3(),
    cache: new StatCache({ path: join(root, 'cache'), hash: loadBlake3().hash, nowMs: Date.now }),
    nowMs: Date.now,
    ignore: ignoreRule(),
  });
  const hashes = new Set<string>();
  for (let i = 0; i < 100_000; i++) {
    const file = join(root, `${i}`);
    writeFileSync(file, `content ${i}`);
    const content = hasher.hashPath(file);
    if (content.kind === 'file') hashes.add(content.hash);
    // Before it reaches the disk: writing over a file makes the file system wait for what was there.
    rmSync(file);
  }
  expect(hashes.size).toBe(100_000);
}, 180_000);

/** The first half of the files is made, then the run waits for a pipe that nobody writes, and is killed. */
const HALTING = (n: number) =>
  FANNED(
    1,
    `test "$(cat {{root}}/runs.log | wc -l)" -lt ${n} || cat {{root}}/hold; rev {{input}} > {{output}}`,
  );

const manifestOf = (p: Project) =>
  p
    .read('out/.manifest.jsonl')
    .trim()
    .split('\n')
    .map((line) => JSON.parse(line) as Record<string, string>);

async function haltAt(n: number, files: number): Promise<Project> {
  const p = project({ 'p.yaml': HALTING(n), ...inputs(files), 'runs.log': '' });
  execFileSync('mkfifo', [join(p.root, 'hold')]);
  const isHeld = () => p.read('runs.log').split('\n').length > n && p.has('out/.manifest.jsonl');
  await killWhen(p, () => isHeld() && manifestOf(p).length >= n);
  rmSync(join(p.root, 'hold'));
  p.write('hold', '');
  return p;
}

test('11: per-file resume after partial failure: killed at half, only the remaining files are processed', async () => {
  const p = await haltAt(10, 20);
  expect(await p.run()).toMatchObject({ code: 0, states_run: 10, states_cached: 10 });
  const made = p.read('runs.log').trim().split('\n');
  expect([made.length, new Set(made).size]).toEqual([20, 20]);
});

test('12: manifest tracks completed files: killed at 60 of 100 it has exactly 60 entries, and alone saves their work', async () => {
  const p = await haltAt(60, 100);
  const lines = manifestOf(p);
  expect(lines).toHaveLength(60);
  expect(new Set(lines.map(({ input }) => input)).size).toBe(60);
  expect(Object.keys(lines[0]!)).toEqual(
    expect.arrayContaining(['input', 'output', 'input_hash', 'output_hash', 'completed_at']),
  );
  // Neither database nor lock file: what the directory says of itself is enough.
  rmSync(join(p.root, '.sluice'), { recursive: true });
  rmSync(join(p.root, 'p.lock.yaml'), { force: true });
  expect(await p.run()).toMatchObject({ code: 0, states_run: 40, states_cached: 60 });
  // Under another command the same lines vouch for nothing.
  rmSync(join(p.root, '.sluice'), { recursive: true });
  rmSync(join(p.root, 'p.lock.yaml'));
  p.write('p.yaml', p.read('p.yaml').replace('rev {{input}}', 'cat {{input}}'));
  expect(await p.run()).toMatchObject({ code: 0, states_run: 100 });
}, 60_000);

test('13: non-deterministic stage never caches, and what follows runs only if its output differs', async () => {
  const p = project({
    'p.yaml': `stages:\n${copy('dice', 'in.txt', 'd', ', deterministic: false')}${copy('use', 'd', 'u')}`,
    'in.txt': 'x',
  });
  await p.run();
  await p.run();
  expect([p.runs('dice'), p.runs('use')]).toEqual([2, 1]);
});

test('14: concurrent runs are safe: two at once make everything once and leave one readable lock file', async () => {
  const p = project({ 'p.yaml': chain(6), 'in.txt': 'x' });
  const both = await Promise.all([p.run(), p.run()]);
  expect(both.map(({ code }) => code)).toEqual([0, 0]);
  expect(both.map(({ states_run }) => states_run).sort()).toEqual([0, 6]);
  expect([...lockOf(p).keys()]).toHaveLength(6);
  expect(p.read('runs.log').trim().split('\n')).toHaveLength(6);
  expect(events(p).filter(({ event }) => event === 'run_completed')).toHaveLength(2);
});

test('15: adding a new stage preserves cache', async () => {
  const p = project({ 'p.yaml': chain(3), 'in.txt': 'x' });
  await p.run();
  p.write('p.yaml', chain(4));
  expect(await p.run()).toMatchObject({ states_run: 1, states_cached: 3 });
});

test('16: wildcard expansion is correct: 100 files are 100 states, each with its own paths', async () => {
  const p = project({
    'p.yaml':
      'stages: {"up_{sample}": {cmd: "echo {{deps[0].path}} > {{outs[0].path}}", deps: ["in/{sample}.txt"], outs: ["out/{sample}.log"]}}',
    ...inputs(100),
  });
  const run = await p.run('--all');
  expect(run).toMatchObject({ code: 0, states_run: 100 });
  expect(run.stderr).toContain('up_f42 ');
  for (let i = 0; i < 100; i++) expect(p.read(`out/f${i}.log`)).toBe(`in/f${i}.txt\n`);
});

test('17: resource scheduler prevents oversubscription: of 4-core jobs on 8 cores at most 2 run at once', async () => {
  const p = project({
    'p.yaml': `
targets: {local: {host: localhost, cores: 8}}
stages:
  w_{x}:
    cmd: |
      mkdir -p live; touch live/{{entity.x}}; ls live | wc -l >> most.log
      sleep 0.03; rm live/{{entity.x}}; cp {{deps[0].path}} {{outs[0].path}}
    deps: ["in/{x}.txt"]
    outs: ["out/{x}.txt"]
    resources: {cores: 4}
`,
    ...inputs(8),
  });
  expect(await p.run()).toMatchObject({ code: 0, states_run: 8 });
  expect(Math.max(...p.read('most.log').trim().split('\n').map(Number))).toBe(2);
});

async function frozenAndBehind(): Promise<Project> {
  const p = project({ 'p.yaml': `stages:\n${copy('a', 'in.txt', 'o')}`, 'in.txt': '1' });
  await p.run();
  p.write('p.yaml', `stages:\n${copy('a', 'in.txt', 'o', ', frozen: true')}`);
  p.write('in.txt', '2');
  return p;
}

test('18: frozen stage never re-runs: it stays cached whatever its deps do', async () => {
  const p = await frozenAndBehind();
  expect(await p.run()).toMatchObject({ code: 0, states_run: 0, states_cached: 1 });
  expect([p.runs('a'), p.read('o')]).toEqual([1, '1']);
});

test('22: frozen + force overrides frozen', async () => {
  const p = await frozenAndBehind();
  expect(await p.run('--force')).toMatchObject({ code: 0, states_run: 1 });
  expect([p.runs('a'), p.read('o')]).toEqual([2, '2']);
});

test('19: event log is append-only: three runs are three pairs of run_started and run_completed, in order', async () => {
  const p = project({ 'p.yaml': chain(1), 'in.txt': '1' });
  let before = '';
  for (const content of ['1', '2', '2']) {
    p.write('in.txt', content);
    await p.run();
    expect(p.read('p.events.jsonl').startsWith(before)).toBe(true);
    before = p.read('p.events.jsonl');
  }
  const runs = events(p).filter(({ event }) => event.startsWith('run_'));
  const pair = ['run_started', 'run_completed'];
  expect(runs.map(({ event }) => event)).toEqual([...pair, ...pair, ...pair]);
  for (let i = 0; i < 6; i += 2) expect(runs[i]!.run_id).toBe(runs[i + 1]!.run_id);
});

test('20: work directories are isolated: two jobs have no file in common, and neither sees the other', async () => {
  const p = project({
    'p.yaml': FANNED(2, 'echo {{input_stem}} > scratch; pwd > {{output}}; ls -A | wc -l >> {{output}}'),
    ...inputs(2),
  });
  expect(await p.run('--jobs', '2')).toMatchObject({ code: 0, states_run: 2 });
  const [a, b] = ['out/f0.txt', 'out/f1.txt'].map((name) => p.read(name).split('\n'));
  expect(a![0]).not.toBe(b![0]);
  expect(a![0]).toMatch(/\.sluice\/work\/[0-9a-f]{2}\/[0-9a-f]{30}$/);
  expect(a![1]).toBe(b![1]);
});

test('21: cache miss explanation is accurate: it names the param that changed, old and new', async () => {
  const p = project({
    'p.yaml':
      'params: {a: x, b: y}\nstages: {s: {cmd: "echo {{params.a}} {{params.b}} > {{outs[0].path}}", outs: [o]}}',
  });
  await p.run();
  const { stderr } = await p.run('--set', 'b=z');
  expect(stderr).toContain('params_hash changed: b "y" → "z"');
  expect(stderr).not.toMatch(/\ba "x"/);
});

function lockOf(p: Project) {
  const parsed = parseLockFile(p.read('p.lock.yaml'));
  if (!parsed.ok) throw new Error(parsed.message);
  return parsed.lock.stages;
}

async function killWhen(p: Project, isTime: () => boolean): Promise<void> {
  const child = spawn(process.execPath, [PROGRAM, 'run', 'p.yaml'], { cwd: p.root, stdio: 'ignore' });
  const gone = new Promise((resolve) => child.on('exit', resolve));
  try {
    await vi.waitUntil(isTime, { timeout: 20_000, interval: 5 });
  } finally {
    child.kill('SIGKILL');
    await gone;
  }
}

function lcg(seed: number): () => number {
  let state = seed;
  return () => {
    state = (state * 1_664_525 + 1_013_904_223) % 2 ** 32;
    return state / 2 ** 32;
  };
}
