import { readdirSync, readFileSync } from 'node:fs';
import { describe, expect, test } from 'vitest';
import { type Loaded, loadWorkflow } from '../../schema/load-workflow.ts';
import type { StageId } from '../../schema/words.ts';
import type { Stage } from '../../schema/workflow.ts';

const SEEDS = new URL('../fixtures/seeds/', import.meta.url);

function load(file: string): Loaded {
  const text = readFileSync(new URL(file, SEEDS), 'utf8');
  return loadWorkflow(text, { name: file.replace(/\.\w+$/, ''), root: '/project' });
}

function workflowOf(file: string) {
  const loaded = load(file);
  if (loaded.kind !== 'workflow') throw new Error(JSON.stringify(loaded, null, 2));
  return loaded;
}

function stageOf(file: string, id: string): Stage {
  return workflowOf(file).workflow.stages.find((stage) => stage.id === id)!;
}

describe('the examples of the designs load as they stand', () => {
  test.each(readdirSync(SEEDS))('%s has no error', (file) => {
    const errors = load(file).diagnostics.filter(({ severity }) => severity === 'error');
    expect(errors).toEqual([]);
  });
});

test('the playbook finds its order from deps and outs', () => {
  const { dag, workflow } = workflowOf('playbook.yaml');
  expect(workflow.frontEnd).toBe('playbook');
  expect(dag.order).toHaveLength(workflow.stages.length);
  const place = new Map(dag.order.map((id, i) => [id, i]));
  for (const { from, to } of dag.edges) expect(place.get(from)!).toBeLessThan(place.get(to)!);
});

test('wildcard expansion generates concrete stages: a variable in deps and outs makes one state per sample', () => {
  const stage = stageOf('wildcard.yaml', 'transcribe_{sample}');
  expect(stage.variables).toEqual(['sample']);
  expect(stage.deps[0]!.binding).toBe('one');
  expect(stage.retry).toMatchObject({ retries: 3, on: 'failure' });
});

test('resources are read in their units', () => {
  expect(stageOf('resources.yaml', 'transcribe').resources).toMatchObject({
    cores: 2,
    memoryBytes: 4 * 1024 ** 3,
    gpu: 1,
    diskBytes: 10 * 1024 ** 3,
    timeoutMs: 3_600_000,
  });
});

test('a frozen stage says so', () => {
  expect(stageOf('frozen.yaml', 'train_baseline').frozen).toBe(true);
});

test('compliance pre flight expands to stages that stand before all others', () => {
  const { workflow, dag } = workflowOf('compliance.yaml');
  const gates = workflow.stages.filter(({ gate }) => gate).map(({ id }) => id);
  expect(gates).toHaveLength(6);
  const before = gates.filter((id) => id.startsWith('pre_flight'));
  for (const id of before) expect(dag.order.indexOf(id)).toBeLessThan(dag.order.indexOf('build' as StageId));
});

test('compliance post flight depends on all user stages', () => {
  const { workflow, dag } = workflowOf('compliance.yaml');
  const gates = workflow.stages.filter(({ id }) => id.startsWith('post_flight'));
  expect(gates.length).toBeGreaterThan(0);
  for (const { id } of gates) expect(dag.upstream.get(id)).toContain('build');
});

test('a pipeline counts its attempts in all, so one fewer are retries', () => {
  const { workflow } = workflowOf('pipeline.json');
  const written = JSON.parse(readFileSync(new URL('pipeline.json', SEEDS), 'utf8'));
  const transform = workflow.stages.find(({ kind }) => kind === 'transform')!;
  expect(transform.retry.retries).toBe(written.retryPolicy.maxAttempts - 1);
  expect(transform.retry.backoff.kind).toBe('schedule');
});

test('a reference to another stage in a node is a dep of its own', () => {
  const { workflow } = workflowOf('news-feed.json');
  const notified = workflow.stages.find(({ action }) => action.kind === 'node' && action.whenTrue !== null)!;
  expect(notified.deps.map(({ stage }) => stage)).toContain('scores');
});

test("one workflow's out is the other's source, by its path alone", () => {
  const [made] = workflowOf('cross-a.json').workflow.stages;
  const [source] = workflowOf('cross-b.json').workflow.stages;
  expect(source!.kind).toBe('source');
  expect(source!.outs[0]!.path).toBe(made!.outs[0]!.path);
});

test("a job's tasks are actions in the order of depends_on", () => {
  const { workflow, dag } = workflowOf('job.yaml');
  expect(workflow.schedule).not.toBeNull();
  expect(workflow.stages.every(({ kind }) => kind === 'action')).toBe(true);
  for (const { id, after } of workflow.stages) {
    for (const before of after) expect(dag.order.indexOf(before)).toBeLessThan(dag.order.indexOf(id));
  }
});

test('a global configuration is settings, not a workflow', () => {
  expect(load('settings.yaml').kind).toBe('settings');
});
