// What a fan-out job left in its work directory goes to where its outputs belong (SEMANTICS 11).

import { copyFileSync, existsSync, mkdirSync, readdirSync, renameSync, rmSync } from 'node:fs';
import { basename, dirname, join } from 'node:path';
import type { PreparedOut } from './outputs.ts';

/** Our own files there have a leading dot, and so has whatever a command wants to keep to itself. */
export function collectLeftFiles(workDir: string, outs: readonly PreparedOut[]): void {
  const wanted = new Map(outs.map((out) => [basename(out.path), out]));
  const fallback = outs[0];
  if (fallback === undefined) return;
  for (const entry of readdirSync(workDir, { withFileTypes: true })) {
    if (!entry.isFile() || entry.name.startsWith('.')) continue;
    const out = wanted.get(entry.name);
    const to = out === undefined ? join(dirname(fallback.path), entry.name) : out.writeTo;
    if (!existsSync(to)) move(join(workDir, entry.name), to);
  }
}

/** Work directories may be on another file system than the outputs. */
function move(from: string, to: string): void {
  mkdirSync(dirname(to), { recursive: true });
  try {
    renameSync(from, to);
  } catch (error) {
    if ((error as NodeJS.ErrnoException).code !== 'EXDEV') throw error;
    copyFileSync(from, to);
    rmSync(from);
  }
}
