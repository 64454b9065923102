// `state_write`: the given content becomes the out. It has no path: a stage writes its own out and nothing else.

import * as z from 'zod';
import { json } from '../../schema/front/shapes.ts';
import { defineNode } from './node.ts';
import { writeJson, writeOut } from './write-out.ts';

export const stateWrite = defineNode({
  version: 1,
  /** A text is written as it is, anything else as JSON. */
  data: z.strictObject({ content: json }),
  run: async ({ content }, { fill, out }) => {
    if (typeof content === 'string') {
      const text = fill.text(content);
      return text.ok ? writeOut(out, text.value) : text.failed;
    }
    const value = fill.tree(content);
    return value.ok ? writeJson(out, value.value) : value.failed;
  },
});
