// `set`: writes the given values as JSON.

import * as z from 'zod';
import { json } from '../../schema/front/shapes.ts';
import { defineNode } from './node.ts';
import { writeJson } from './write-out.ts';

export const set = defineNode({
  version: 1,
  data: z.strictObject({ values: json }),
  run: async ({ values }, { fill, out }) => {
    const filled = fill.tree(values);
    return filled.ok ? writeJson(out, filled.value) : filled.failed;
  },
});
