// How long a workflow takes from text to an ordered normal form. Aims: 100 stages under 10 ms, their DAG under 1 ms.

import { bench, describe } from 'vitest';
import { buildDag } from '../schema/dag.ts';
import { loadWorkflow } from '../schema/load-workflow.ts';
import { playbookOf } from './playbook-of.ts';

const options = { name: 'bench', root: '/project' };
const plain = playbookOf(100, 'plain');
const rich = playbookOf(100, 'rich');
const large = playbookOf(5_000, 'plain');
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
});
