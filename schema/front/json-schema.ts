// What editors check while one types: the validator's own shapes as JSON Schema.

import * as z from 'zod';
import { jobShape, settingsShape } from './job-shape.ts';
import { pipelineShape } from './pipeline-shape.ts';
import { playbookShape } from './playbook-shape.ts';

const SHAPES = { playbook: playbookShape, pipeline: pipelineShape, job: jobShape, settings: settingsShape };

export type SchemaKind = keyof typeof SHAPES;

/** Without a kind: any of the three workflow files. */
export function jsonSchemaOf(kind: SchemaKind | undefined): object {
  const shape =
    kind === undefined
      ? z.union([playbookShape, pipelineShape, jobShape]).meta({ title: 'Sluice workflow' })
      : SHAPES[kind];
  return z.toJSONSchema(shape, { io: 'input' });
}
