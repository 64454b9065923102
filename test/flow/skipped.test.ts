// A condition that is false: told as skipped, never as run, and all that cannot be made without it with it.

import { rmSync } from 'node:fs';
import { join } from 'node:path';
import { expect, test } from 'vitest';
import { project } from '../rig/project.ts';

const PICKED = {
  'p.yaml': `
mode: pipeline
stateRoot: .
stages:
  - {id: items, type: source, pattern: "in/{id}.json"}
  - {id: pick, type: transform, input: items, pattern: "picks/{id}.json",
     node: {typeId: if, data: {condition: "{{$.items.content.score >= 8}}"}},
     then: {typeId: set, data: {values: {title: "{{$.items.content.title}}"}}}}
  - {id: loud, type: transform, input: pick, pattern: "loud/{id}.txt",
     node: {typeId: command, data: {cmd: "echo loud >> runs.log; tr a-z A-Z < {{input}} > {{output}}"}}}
  - {id: all, type: transform, input: loud, pattern: "all.txt",
     node: {typeId: command, data: {cmd: "cat {{input}} > {{output}}"}}}
`,
  'in/good.json': '{"score": 9, "title": "good"}',
  'in/dull.json': '{"score": 2, "title": "dull"}',
};

const SKIPPED = [
  { stage: 'pick', entity: 'dull', status: 'skipped', reasons: ['{{$.items.content.score >= 8}} is false'] },
  { stage: 'loud', entity: 'dull', status: 'skipped', reasons: ['pick made nothing for it'] },
];

test('a false condition is told as skipped with what needs its output, and the run is completed', async () => {
  const p = project(PICKED);
  const run = await p.run();
  expect(run).toMatchObject({ code: 0, status: 'completed', states_run: 3, states_cached: 0 });
  expect(run.states.filter(({ status }) => status === 'skipped')).toEqual(SKIPPED);
  expect(run.stderr).toMatch(/^– pick@dull {2}.* is false$/m);
  expect(p.read('all.txt')).toContain('GOOD');
  const { events } = JSON.parse((await p.sluice('log', 'p.yaml', '--json')).stdout).runs[0];
  expect(events).toContainEqual(expect.objectContaining({ event: 'stage_skipped', entity: 'dull' }));
  expect((await p.sluice('why', 'p.yaml', 'loud@dull')).stdout).toContain(
    'is skipped: picks/dull.json was not made',
  );

  const again = await p.run();
  expect(again).toMatchObject({ code: 0, states_run: 0, states_cached: 5, states: [] });
  expect((await p.sluice('status', 'p.yaml')).stdout).toContain('All 7 states are settled.');
});

test('what was skipped is known from the lock file alone, and asked again only if its input is another', async () => {
  const p = project(PICKED);
  await p.run();
  rmSync(join(p.root, '.sluice'), { recursive: true });
  expect(await p.run()).toMatchObject({ code: 0, states_run: 0, states_cached: 5, states: [] });
  expect(JSON.parse((await p.sluice('status', 'p.yaml', '--json')).stdout).counts).toMatchObject({
    skipped: 2,
  });
  p.write('in/dull.json', '{"score": 8, "title": "dull"}');
  expect(await p.run()).toMatchObject({ code: 0, states_run: 3, states_cached: 2 });
  expect([p.runs('loud'), p.read('all.txt')]).toEqual([2, expect.stringContaining('DULL')]);
  p.write('in/dull.json', '{"score": 1, "title": "dull"}');
  const { stderr, states } = await p.run();
  expect(states).toMatchObject([{ stage: 'pick', entity: 'dull', status: 'skipped' }]);
  expect(stderr).toContain('pick@dull is skipped now; picks/dull.json is of before');
});

test('what a failure leaves unmade is skipped too, but that run has failed', async () => {
  const p = project({
    'p.yaml': `
stages:
  a: {cmd: "exit 3", outs: [a.txt]}
  b: {cmd: "cp a.txt b.txt", deps: [a.txt], outs: [b.txt]}
  "c_{x}": {cmd: "exit 4", deps: ["in/{x}"], outs: ["out/{x}"]}
  all: {cmd: "cat {{deps[0].path}} > all", deps: ["out/{x}"], outs: [all]}
policy: {failure: continue_on_failure}
`,
    'in/1': '1',
  });
  const run = await p.run();
  expect(run).toMatchObject({ code: 1, status: 'failed' });
  expect(run.states).toMatchObject([
    { stage: 'a', status: 'failed' },
    { stage: 'b', status: 'skipped', reasons: ['waits for a'] },
    { stage: 'c_{x}', status: 'failed' },
    // What it collects is not there, so there is no file to go by.
    { stage: 'all', status: 'skipped', reasons: ['waits for c_{x}'] },
  ]);
});

test('it is told and counted the same where a run goes on from its last verdict', async () => {
  const p = project(PICKED);
  // The stamps of what was just written are too young to be relied on for an instant.
  await expect
    .poll(async () => (await p.run()) && p.has('.sluice/clean/p.yaml'), { timeout: 10_000 })
    .toBe(true);
  const reported = p.read('.sluice/reported/p.yaml');
  p.write('in/dull.json', '{"score": 3, "title": "dull"}');
  const run = await p.run();
  expect(run).toMatchObject({ code: 0, status: 'completed', states_run: 0, states_cached: 3 });
  expect(run.states).toEqual(SKIPPED);
  expect(p.read('.sluice/reported/p.yaml').startsWith(reported)).toBe(true);
  expect(await p.run()).toMatchObject({ code: 0, states_run: 0, states_cached: 5, states: [] });
  p.write('in/dull.json', '{"score": 8, "title": "dull"}');
  expect(await p.run()).toMatchObject({ code: 0, states_run: 3, states_cached: 2 });
  expect(p.read('all.txt')).toContain('DULL');
});
