// What a pipeline file may say: state patterns, in YAML or JSON (pipeline-workflows.md).

import * as z from 'zod';
import { count, duration, environment, head, json, names, positive, running, validation } from './shapes.ts';

export const NODE_TYPES = [
  'command',
  'http',
  'set',
  'transform',
  'if',
  'state_read',
  'state_write',
  'state_list',
  'notify',
  'discord_send',
  'agent',
  'claude_agent',
] as const;

/** What a command node's data may say; every other node type reads its own data when it runs. */
export const commandData = z.strictObject({
  cmd: z.string().min(1),
  shell: z.enum(['rash', 'raw']).optional(),
  env: environment.optional(),
});

const node = z
  .strictObject({ typeId: z.enum(NODE_TYPES), data: z.record(z.string(), json).optional() })
  .superRefine(({ typeId, data }, context) => {
    if (typeId !== 'command') return;
    const issues = commandData.safeParse(data ?? {}).error?.issues ?? [];
    for (const issue of issues) context.addIssue({ ...issue, path: ['data', ...issue.path] } as never);
  });

const pipelineStage = z
  .strictObject({
    id: z.string().min(1),
    name: z.string().optional(),
    description: z.string().optional(),
    type: z.enum(['source', 'transform', 'sink']),
    pattern: z.string(),
    input: z.string().optional(),
    filter: validation.optional(),
    node: node.optional(),
    // biome-ignore lint/suspicious/noThenProperty: the seed's own key
    then: node.optional(),
    validation: validation.optional(),
    params: names.optional(),
    after: names.optional(),
    ...running,
  })
  .superRefine((stage, context) => {
    for (const [key, hint] of meaningless(stage)) {
      const message = `'${key}' has no meaning here`;
      context.addIssue({ code: 'custom', path: [key], message, params: { code: 'misplaced-key', hint } });
    }
  });

interface Misplaceable {
  readonly type: 'source' | 'transform' | 'sink';
  readonly node?: { readonly typeId: string } | undefined;
}

const NOT_OF_SOURCES = [
  'input',
  'node',
  'then',
  'validation',
  'params',
  'secrets',
  'code',
  'resources',
  'collect',
  'cwd',
  'frozen',
  'deterministic',
];

/** Keys that would otherwise be read and then ignored. */
function meaningless(stage: Misplaceable): [key: string, hint: string][] {
  const written = (keys: readonly string[]) => keys.filter((key) => key in stage);
  const ofSource = stage.type === 'source' ? written(NOT_OF_SOURCES) : [];
  const ofOthers = stage.type === 'source' ? [] : written(['filter']);
  const ofThen = stage.node?.typeId === 'if' ? [] : written(['then']);
  return [
    ...ofSource.map((key): [string, string] => [key, 'a source is only watched; use type: transform']),
    ...ofOthers.map((key): [string, string] => [key, "only a source has a filter; use 'validation'"]),
    ...ofThen.map((key): [string, string] => [key, "'then' follows a node of typeId: if"]),
  ];
}

export const pipelineShape = z
  .strictObject({
    $schema: z.string().optional(),
    ...head,
    mode: z.literal('pipeline'),
    stateRoot: z.string(),
    params: z.record(z.string(), json).optional(),
    scanInterval: duration.optional(),
    maxConcurrentEntities: positive.optional(),
    retryPolicy: z
      .strictObject({ maxAttempts: positive.optional(), backoffSeconds: z.array(count).min(1).optional() })
      .optional(),
    stages: z.array(pipelineStage),
  })
  .meta({ title: 'Sluice pipeline' });

export type Pipeline = z.infer<typeof pipelineShape>;
export type PipelineStage = z.infer<typeof pipelineStage>;
