// How long a workflow takes from text to an ordered normal form. Aims: 100 stages under 10 ms, their DAG under 1 ms,
// and 5,000 stages of any shape under 2 s.

import { bench, describe } from 'vitest';
import { buildDag } from '../schema/dag.ts';
import { loadWorkflow } from '../schema/load-workflow.ts';
import { patternsOf, playbookOf } from './playbook-of.ts';

const options = { name: 'bench', root: '/project' };
const plain = playbookOf(100, 'plain');
const rich = playbookOf(100, 'rich');
const large = playbookOf(5_000, 'plain');
const patterns = patternsOf(5_000);
const loaded = loadWorkflow(plain, options);
if (loaded.kind !== 'workflow') throw new Error('the bench playbook is invalid');
const { stages } = loaded.workflow;

const warm = { warmupIterations: 50, warmupTime: 1_000 };

describe('100 stages', () => {
  bench('parse + validate + DAG', () => void loadWorkflow(plain, options), warm);
  bench('the same with resources, retry and description', () => void loadWorkflow(rich, options), warm);
  bench('DAG alone', () => void buildDag(stages), warm);
});

describe('5,000 stages', () => {
  bench('parse + validate + DAG', () => void loadWorkflow(large, options), { iterations: 5 });
  bench('the same with as many patterns in one directory', () => void loadWorkflow(patterns, options), {
    iterations: 5,
  });
});
