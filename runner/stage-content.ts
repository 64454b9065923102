// What `{{$.stage.content…}}` of a shell command sees: the value of a JSON file, if that is what is there.

import { readFileSync } from 'node:fs';
import type { Json } from '../schema/words.ts';

export function readStageContent(path: string): Json | undefined {
  if (!path.endsWith('.json')) return undefined;
  try {
    return JSON.parse(readFileSync(path, 'utf8')) as Json;
  } catch {
    return undefined;
  }
}
