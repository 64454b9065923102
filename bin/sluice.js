#!/usr/bin/env node
// Starts the bundled program. In a checkout it first brings dist/ up to date with the sources.

import { existsSync } from 'node:fs';
import { fileURLToPath } from 'node:url';

const root = fileURLToPath(new URL('..', import.meta.url));

if (existsSync(`${root}cli/main.ts`)) await refresh();
const { start } = await import('../dist/sluice.js');
await start();

async function refresh() {
  const { isFresh } = await import('../tools/freshness.mjs');
  if (isFresh(root)) return;
  process.stderr.write('sluice: dist/ is not up to date with the sources, building\n');
  try {
    const { buildIfStale } = await import('../build.mjs');
    await buildIfStale();
  } catch (error) {
    const remedy =
      error.code === 'ERR_MODULE_NOT_FOUND' ? `run 'npm ci && npm run build' in ${root}` : 'mend the sources';
    process.stderr.write(`sluice: could not build: ${error.message}\n  → ${remedy}\n`);
    process.exit(1);
  }
}
