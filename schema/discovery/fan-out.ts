// Where a fan-out job puts its output: the out's directory, the input's place below the dep, an extension (SEMANTICS 11).

import type { Stage } from '../workflow.ts';

/** What the type of an out says about its files. */
const EXTENSIONS: Readonly<Record<string, string>> = {
  audio: '.wav',
  transcript: '.json',
  chunks: '.json',
  embeddings: '.npy',
  model: '.apr',
  dataset: '.parquet',
  metrics: '.json',
};

/** Below the first out; `relative` is the input below the first dep. */
export function fanOutOutput(stage: Stage, relative: string): string {
  const slash = relative.lastIndexOf('/') + 1;
  const name = relative.slice(slash);
  const dot = name.lastIndexOf('.');
  const [stem, own] = dot > 0 ? [name.slice(0, dot), name.slice(dot)] : [name, ''];
  return relative.slice(0, slash) + stem + (extensionOf(stage) ?? own);
}

function extensionOf({ fanOut, outs }: Stage): string | null {
  const asked = fanOut?.ext ?? null;
  if (asked !== null) return asked.startsWith('.') ? asked : `.${asked}`;
  return EXTENSIONS[outs[0]?.type ?? ''] ?? null;
}
