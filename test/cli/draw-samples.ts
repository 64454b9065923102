// Small workflows with hand-made DAGs, so that drawings are tested without a parser.

import type { Dag, Edge } from '../../schema/dag.ts';
import { LOCAL, type StageId, type TargetName } from '../../schema/words.ts';
import {
  DEFAULT_POLICY,
  DEFAULT_RESOURCES,
  DEFAULT_WATCH,
  NO_RETRY,
  type Stage,
  type Workflow,
} from '../../schema/workflow.ts';

export interface Sample {
  readonly workflow: Workflow;
  readonly dag: Dag;
}

export type Arrow = readonly [from: string, to: string, path?: string | null];

export interface SampleParts {
  /** In topological order. */
  readonly names: readonly string[];
  /** A path of null is an `after`. */
  readonly arrows?: readonly Arrow[];
  readonly stages?: Readonly<Record<string, Partial<Stage>>>;
  readonly name?: string;
}

export function sample({ names, arrows = [], stages = {}, name = 'sample' }: SampleParts): Sample {
  return { workflow: workflowOf(names, stages, name), dag: dagOf(names, arrows) };
}

export function chain(length: number): Sample {
  const names = Array.from({ length }, (_, i) => `step-${i + 1}`);
  return sample({ names, arrows: names.slice(1).map((name, i) => [names[i]!, name]) });
}

/** One source, `width` stages in between, one sink. */
export function fan(width: number): Sample {
  const middle = Array.from({ length: width }, (_, i) => `part-${i + 1}`);
  const arrows = middle.flatMap((name): Arrow[] => [
    ['load', name],
    [name, 'report'],
  ]);
  return sample({ names: ['load', ...middle, 'report'], arrows });
}

export function diamond(): Sample {
  const arrows: Arrow[] = [
    ['load', 'left', 'raw/'],
    ['load', 'right', 'raw/'],
    ['left', 'join', 'l.txt'],
    ['right', 'join', 'r.txt'],
  ];
  return sample({ names: ['load', 'left', 'right', 'join'], arrows });
}

/** Six stages with one of nearly everything that a drawing shows. */
export function talks(): Sample {
  return sample({
    name: 'talks',
    names: ['audio', 'transcribe_{talk}', 'summarize_{talk}', 'index', 'publish', 'notify'],
    arrows: [
      ['audio', 'transcribe_{talk}', 'audio/{talk}.wav'],
      ['transcribe_{talk}', 'summarize_{talk}', 'text/{talk}.json'],
      ['transcribe_{talk}', 'index', 'text/{talk}.json'],
      ['summarize_{talk}', 'publish', 'summaries/{talk}.md'],
      ['index', 'publish', 'index.json'],
      ['publish', 'notify', null],
    ],
    stages: {
      audio: { kind: 'source' },
      'transcribe_{talk}': { variables: ['talk'], target: 'intel' as TargetName },
      'summarize_{talk}': { variables: ['talk'] },
      publish: { frozen: true },
      notify: { kind: 'action' },
    },
  });
}

/** Three hundred stages: 36 lines of eight, merged by eleven, published by one. */
export function corpus(): Sample {
  const steps = ['fetch', 'unpack', 'clean', 'split', 'tokenize', 'count', 'score', 'report'];
  const numbers = Array.from({ length: 36 }, (_, i) => i + 1);
  const merges = Array.from({ length: 11 }, (_, i) => `merge-${i + 1}`);
  const arrows = numbers.flatMap((n): Arrow[] => [
    ...steps.slice(1).map((step, i): Arrow => [`${steps[i]}-${n}`, `${step}-${n}`]),
    [`report-${n}`, merges[n % 11]!],
  ]);
  return sample({
    name: 'corpus',
    names: [...numbers.flatMap((n) => steps.map((step) => `${step}-${n}`)), ...merges, 'publish'],
    arrows: [...arrows, ...merges.map((merge): Arrow => [merge, 'publish'])],
    stages: { publish: { kind: 'action' } },
  });
}

/** Names, a path and a description made to break out of whatever they are written into. */
export const HOSTILE_NAMES = [
  '</title><script>alert(1)</script>',
  'a & b ]]> "c" \'d\'',
  'line\nbreak',
  '\u202eevil\u0000\uffff',
  'end"]; x [label="y',
  '日本語の名前',
  'style fill:#1;',
  '\\N\\G',
];

export function hostile(names: readonly string[] = HOSTILE_NAMES): Sample {
  const arrows = names.slice(1).map((name, i): Arrow => [names[i]!, name, names[i]!]);
  const stages = { [names[0]!]: { description: names.join(' '), target: names.at(-1) as TargetName } };
  return sample({ names, arrows, stages, name: names.join(' ') });
}

function workflowOf(
  names: readonly string[],
  stages: SampleParts['stages'] & object,
  name: string,
): Workflow {
  return {
    name,
    version: '1.0',
    description: null,
    frontEnd: 'playbook',
    params: {},
    secrets: [],
    targets: {},
    stages: names.map((id) => ({ ...plainStage(id), ...stages[id] })),
    policy: DEFAULT_POLICY,
    watch: DEFAULT_WATCH,
    schedule: null,
    jobDependencies: [],
    maxConcurrent: null,
  };
}

function plainStage(id: string): Stage {
  return {
    id: id as StageId,
    description: null,
    kind: 'transform',
    sink: false,
    action: { kind: 'none' },
    deps: [],
    outs: [],
    variables: [],
    driver: null,
    params: [],
    secrets: [],
    code: [],
    target: LOCAL,
    after: [],
    fanOut: null,
    retry: NO_RETRY,
    resources: DEFAULT_RESOURCES,
    collect: { maxWaitMs: null, onFailed: 'block' },
    validation: { minSize: null, minFiles: null },
    filter: { minSize: null, minFiles: null },
    condition: 'always',
    priority: 0,
    cwd: null,
    frozen: false,
    deterministic: true,
    gate: false,
  };
}

function dagOf(names: readonly string[], arrows: readonly Arrow[]): Dag {
  const order = names as readonly StageId[];
  const edges = arrows.map(([from, to, path = `${from}.out`]): Edge => {
    const ends = { from: from as StageId, to: to as StageId };
    return { ...ends, cause: path === null ? { kind: 'after' } : { kind: 'path', path } };
  });
  const neighbours = (id: StageId, side: 'from' | 'to') => {
    const other = side === 'from' ? 'to' : 'from';
    return [...new Set(edges.filter((edge) => edge[other] === id).map((edge) => edge[side]))];
  };
  const upstream = new Map(order.map((id) => [id, neighbours(id, 'from')]));
  const downstream = new Map(order.map((id) => [id, neighbours(id, 'to')]));
  const depth = new Map<StageId, number>();
  for (const id of order) depth.set(id, Math.max(-1, ...upstream.get(id)!.map((up) => depth.get(up)!)) + 1);
  return { order, edges, upstream, downstream, depth };
}
