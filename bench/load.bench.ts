// How long a workflow takes from text to an ordered normal form. Aims: 100 stages under 10 ms, their DAG under 1 ms.

import { bench, describe } from 'vitest';
import { buildDag } from '../schema/dag.ts';
import { loadWorkflow } from '../schema/load-workflow.ts';
import { playbookOf } from './playbook-of.ts';

const options = { name: 'bench', root: '/project' };
const hundred = playbookOf(100);
const fiveThousand = playbookOf(5_000);
const loaded = loadWorkflow(hundred, options);
if (loaded.kind !== 'workflow') throw new Error('the bench playbook is invalid');
const { stages } = loaded.workflow;

describe('100 stages', () => {
  bench('parse + validate + DAG', () => void loadWorkflow(hundred, options));
  bench('DAG alone', () => void buildDag(stages));
});

describe('5,000 stages', () => {
  bench('parse + validate + DAG', () => void loadWorkflow(fiveThousand, options), { iterations: 5 });
});
