// `if`: runs what stands under `then` when its condition is true, and is skipped when it is not.

import * as z from 'zod';
import { defineNode } from './node.ts';
import { failed } from './result.ts';
import { expression } from './template-shape.ts';

export const condition = defineNode({
  version: 1,
  data: z.strictObject({ condition: expression }),
  run: async ({ condition: written }, { fill, whenTrue }) => {
    const holds = fill.value(written);
    if (!holds.ok) return holds.failed;
    if (holds.value === true) return await whenTrue();
    if (holds.value === false) return { kind: 'skipped', because: `${written} is false` };
    return failed(`the condition ${written} is neither true nor false; compare it, as in {{… >= 8}}`);
  },
});
