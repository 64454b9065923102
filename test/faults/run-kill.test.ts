// kill -9 of a whole run at random instants: what was finished stays finished, and nothing is half there.
//
// SLUICE_KILLS says how many instants (40 unless said; `npm run test:long` takes 200), SLUICE_SEED which ones.

import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { cpSync, existsSync, readdirSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import Libsql from 'libsql';
import { expect, test, vi } from 'vitest';
import { factsOf } from '../../runner/platform.ts';
import { parseLockFile } from '../../schema/lock-file.ts';
import { PROGRAM, temporaryFolder } from '../rig/cli.ts';
import { commandsUnder } from '../rig/processes.ts';
import { project } from '../rig/project.ts';

const KILLS = Number(process.env.SLUICE_KILLS ?? 40);
const SEED = Number(process.env.SLUICE_SEED ?? Math.floor(Math.random() * 2 ** 31));

/** Writes in two steps, ends its output with a checksum of it, and says at its very end that it is done. */
const MAKE = `name=$1 out=$2 root=$3
shift 3
{ echo "$name"; cat -- "$@" | cksum; } > "$out"
sleep 0.005
echo "sum $(cksum < "$out")" >> "$out"
echo "$name" >> "$root/done.log"
`;

const NAMES = ['a', 'b', 'c', 'd', 'e', 'f', 'g'];
const make = (name: string) => `sh {{root}}/make.sh ${name}`;
const chain = [1, 2, 3, 4, 5, 6].map(
  (n) =>
    `  link${n}: {cmd: "${make(`link${n}@`)} {{outs[0].path}} {{root}} {{deps[0].path}}", deps: [${n === 1 ? 'raw/a' : `link${n - 1}.txt`}], outs: [link${n}.txt]}`,
);

/** 30 states: a fan-out, two wildcards, one of them collected, a chain, and a last one over all. */
const PLAYBOOK = `
stages:
  up:
    cmd: ${make('up@{{input_stem}}')} {{output}} {{root}} {{input}}
    deps: [{path: raw/}]
    outs: [{path: up/}]
    parallel: {strategy: per_file}
  all: {cmd: "${make('all@')} {{outs[0].path}} {{root}} up/*", deps: [up/], outs: [all.txt]}
  mid_{x}: {cmd: "${make('mid_{x}@{{entity.x}}')} {{outs[0].path}} {{root}} {{deps[0].path}}", deps: ["raw/{x}"], outs: ["mid/{x}"]}
  fin_{x}: {cmd: "${make('fin_{x}@{{entity.x}}')} {{outs[0].path}} {{root}} {{deps[0].path}}", deps: ["mid/{x}"], outs: ["fin/{x}"]}
  sum: {cmd: "${make('sum@')} {{outs[0].path}} {{root}} {{deps[0].path}}", deps: ["mid/{x}"], outs: [sum.txt]}
${chain.join('\n')}
  end: {cmd: "${make('end@')} {{outs[0].path}} {{root}} {{deps[0].path}} {{deps[1].path}} {{deps[2].path}}", deps: [sum.txt, all.txt, link6.txt], outs: [end.txt]}
`.replaceAll(/make\.sh (\w+)_\{x\}@/g, 'make.sh $1@');

const OUTPUTS = [
  ...['up', 'mid', 'fin'].flatMap((folder) => NAMES.map((name) => `${folder}/${name}`)),
  ...['all', 'sum', 'link1', 'link2', 'link3', 'link4', 'link5', 'link6', 'end'].map((name) => `${name}.txt`),
];

const thirty = () =>
  project({
    'p.yaml': PLAYBOOK,
    'make.sh': MAKE,
    ...Object.fromEntries(NAMES.map((name) => [`raw/${name}`, `raw ${name}\n`])),
  });

type Thirty = ReturnType<typeof thirty>;

let reference: ReadonlyMap<string, string>;
let takesMs: number;

test(`after kill -9 at ${KILLS} random instants (seed ${SEED}) a run goes on where it was`, async () => {
  console.log(`kill -9 at ${KILLS} instants; SLUICE_SEED=${SEED}`);
  const p = thirty();
  const begun = performance.now();
  expect(await p.run()).toMatchObject({ code: 0, states_run: 30 });
  takesMs = performance.now() - begun;
  reference = new Map(OUTPUTS.map((name) => [name, p.read(name)]));
  expect([...new Set(doneIn(p))]).toHaveLength(30);
  const random = mulberry32(SEED);
  let [finishedBefore, killedWhileRunning] = [0, 0];
  for (let i = 0; i < KILLS; i++) {
    const q = thirty();
    const afterMs = random() * takesMs;
    const { wasRunning } = await killAfter(q, afterMs);
    const about = `kill ${i} of seed ${SEED}, after ${afterMs.toFixed(1)} of ${takesMs.toFixed(0)} ms`;
    if (wasRunning) killedWhileRunning += 1;
    finishedBefore += await checkAndFinish(q, about);
  }
  // Else the instants were all too early or all too late to show anything.
  expect(killedWhileRunning).toBeGreaterThan(KILLS / 3);
  expect(finishedBefore).toBeGreaterThan(KILLS);
}, 3_600_000);

async function killAfter(p: Thirty, ms: number): Promise<{ wasRunning: boolean }> {
  const child = spawn(process.execPath, [PROGRAM, 'run', 'p.yaml'], { cwd: p.root, stdio: 'ignore' });
  const gone = once(child, 'exit');
  await new Promise((resolve) => setTimeout(resolve, ms));
  const wasRunning = child.exitCode === null;
  const family = wasRunning ? familyOf(child.pid!) : [];
  child.kill('SIGKILL');
  await gone;
  await vi.waitUntil(() => family.every(isGone) && commandsUnder(p.root).length === 0, {
    timeout: 10_000,
    interval: 5,
  });
  return { wasRunning };
}

/** How many states were finished when it was killed. */
async function checkAndFinish(p: Thirty, about: string): Promise<number> {
  for (const name of OUTPUTS) {
    if (p.has(name)) expect(p.read(name), `${about}: ${name}`).toBe(reference.get(name));
  }
  const finished = new Set([...finishedInLock(p, about), ...finishedInDatabase(p)]);
  expectReadableEvents(p, about);
  const done = doneIn(p);
  const run = await p.run();
  expect(run, `${about}: ${JSON.stringify(run.states)}\n${run.stderr}`).toMatchObject({ code: 0 });
  const again = doneIn(p).slice(done.length);
  expect(
    again.filter((name) => finished.has(name)),
    about,
  ).toEqual([]);
  expect(new Set(again).size, about).toBe(again.length);
  for (const name of OUTPUTS) expect(p.read(name), `${about}: ${name}`).toBe(reference.get(name));
  expect(finishedInLock(p, about)).toHaveLength(30);
  expectReadableEvents(p, about);
  expect(straysIn(p.root), about).toEqual([]);
  return finished.size;
}

function doneIn(p: Thirty): string[] {
  return p.has('done.log') ? p.read('done.log').trim().split('\n') : [];
}

function nameOf(stage: string, entity: string): string {
  return `${stage.replace('_{x}', '')}@${entity}`;
}

function finishedInLock(p: Thirty, about: string): string[] {
  if (!p.has('p.lock.yaml')) return [];
  const parsed = parseLockFile(p.read('p.lock.yaml'));
  if (!parsed.ok) throw new Error(`${about}: ${parsed.message}`);
  return [...parsed.lock.stages].flatMap(([stage, { entities }]) =>
    [...entities.keys()].map((entity) => nameOf(stage, entity)),
  );
}

/** Of a copy, so that looking changes nothing. */
function finishedInDatabase(p: Thirty): string[] {
  if (!existsSync(join(p.root, '.sluice/state.db'))) return [];
  const copy = temporaryFolder();
  for (const name of readdirSync(join(p.root, '.sluice')).filter((each) => each.startsWith('state.db')))
    cpSync(join(p.root, '.sluice', name), join(copy, name));
  const db = new Libsql(join(copy, 'state.db'));
  try {
    const tables = db.prepare("SELECT name FROM sqlite_schema WHERE name = 'states'").all();
    if (tables.length === 0) return [];
    const rows = db
      .prepare(
        `SELECT stages.name AS stage, entities.name AS entity FROM states
           JOIN stages ON stages.id = stage_id JOIN entities ON entities.id = entity_id
         WHERE status = 'fresh' AND source = 0`,
      )
      .all() as { stage: string; entity: string }[];
    return rows.map(({ stage, entity }) => nameOf(stage, entity));
  } finally {
    db.close();
  }
}

function expectReadableEvents(p: Thirty, about: string): void {
  if (!p.has('p.events.jsonl')) return;
  const lines = p.read('p.events.jsonl').split('\n').slice(0, -1);
  for (const line of lines) expect(() => JSON.parse(line), `${about}: ${line}`).not.toThrow();
}

function straysIn(root: string): string[] {
  return (readdirSync(root, { recursive: true }) as string[]).filter(
    (name) => !name.startsWith('.sluice') && /(^|\/)\.sluice-/.test(name),
  );
}

interface Relative {
  readonly pid: number;
  readonly startTime: string;
}

function familyOf(pid: number): Relative[] {
  const family: Relative[] = [];
  for (const ahead = [pid]; ahead.length > 0; ) {
    const each = ahead.pop()!;
    const facts = factsOf(each);
    if (facts !== null) family.push(facts);
    ahead.push(...childrenOf(each));
  }
  return family;
}

function childrenOf(pid: number): number[] {
  try {
    const text = readFileSync(`/proc/${pid}/task/${pid}/children`, 'utf8').trim();
    return text === '' ? [] : text.split(' ').map(Number);
  } catch {
    return [];
  }
}

function isGone({ pid, startTime }: Relative): boolean {
  const facts = factsOf(pid);
  return facts === null || facts.isZombie || facts.startTime !== startTime;
}

function mulberry32(seed: number): () => number {
  let state = seed | 0;
  return () => {
    state = (state + 0x6d2b79f5) | 0;
    let mixed = Math.imul(state ^ (state >>> 15), 1 | state);
    mixed = (mixed + Math.imul(mixed ^ (mixed >>> 7), 61 | mixed)) ^ mixed;
    return ((mixed ^ (mixed >>> 14)) >>> 0) / 2 ** 32;
  };
}
