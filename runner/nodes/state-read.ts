// `state_read`: a state's file becomes the out.

import { resolve } from 'node:path';
import * as z from 'zod';
import { defineNode } from './node.ts';
import { readBytes } from './read-content.ts';
import { writeOut } from './write-out.ts';

export const stateRead = defineNode({
  version: 1,
  data: z.strictObject({ path: z.string().min(1) }),
  run: async ({ path: written }, { fill, root, out, limits }) => {
    const path = fill.path(written);
    if (!path.ok) return path.failed;
    const bytes = readBytes({ path: path.value, file: resolve(root, path.value), limits });
    return bytes.ok ? writeOut(out, bytes.value) : bytes.failed;
  },
});
