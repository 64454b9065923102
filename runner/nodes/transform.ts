// `transform`: an expression over the inputs, or a map of them, as JSON.

import * as z from 'zod';
import { defineNode } from './node.ts';
import { expression } from './template-shape.ts';
import { writeJson } from './write-out.ts';

const data = z
  .strictObject({ expression: expression.optional(), map: z.record(z.string(), expression).optional() })
  .superRefine((written, context) => {
    if ((written.expression === undefined) !== (written.map === undefined)) return;
    context.addIssue({ code: 'custom', path: [], message: "write either 'expression' or 'map'" });
  });

export const transform = defineNode({
  version: 1,
  data,
  run: async ({ expression: one, map }, { fill, out }) => {
    const filled = fill.tree(one ?? map!);
    return filled.ok ? writeJson(out, filled.value) : filled.failed;
  },
});
