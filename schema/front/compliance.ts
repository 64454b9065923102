// Expands a playbook's `compliance` block into gate stages before and after everything else (batuta §4.9.2).

import type { Path } from '../source-document.ts';
import type { Json, StageId } from '../words.ts';
import { type DraftStage, emptyStage } from './draft.ts';
import type { Playbook } from './playbook-shape.ts';

type Compliance = NonNullable<Playbook['compliance']>;

export function expandCompliance(compliance: Compliance, stages: readonly DraftStage[]): DraftStage[] {
  const taken = new Set<string>(stages.map(({ id }) => id));
  const before = gates(compliance.pre_flight ?? [], 'pre_flight', taken);
  const after = gates(compliance.post_flight ?? [], 'post_flight', taken);
  const first = before.map(({ id }) => id);
  const all = stages.map(({ id }) => id);
  return [
    ...before,
    ...stages.map((stage) => (first.length === 0 ? stage : { ...stage, after: [...stage.after, ...first] })),
    ...after.map((gate) => ({ ...gate, after: all })),
  ];
}

function gates(
  checks: NonNullable<Compliance['pre_flight']>,
  when: string,
  taken: Set<string>,
): DraftStage[] {
  return checks.map((entry, i) => {
    const [check, options] = Object.entries(entry)[0]! as [string, Record<string, Json>];
    const at: Path = ['compliance', when, i, check];
    const path = typeof options.path === 'string' ? options.path : null;
    return {
      ...emptyStage(freeName(`${when}_${check}`, taken), at),
      description: `compliance check ${check}`,
      action: { kind: 'check', check, options },
      deps: path === null ? [] : [{ path, type: null, at: [...at, 'path'], stage: null }],
      gate: true,
    };
  });
}

function freeName(wanted: string, taken: Set<string>): StageId {
  let name = wanted;
  for (let n = 2; taken.has(name); n++) name = `${wanted}_${n}`;
  taken.add(name);
  return name as StageId;
}
