// Builds the program once before the tests. If that fails, only the tests that run it fail, and say why.

import { spawnSync } from 'node:child_process';
import { fileURLToPath } from 'node:url';
import type { TestProject } from 'vitest/node';

declare module 'vitest' {
  interface ProvidedContext {
    /** Empty if dist/ is up to date. */
    buildFailure: string;
  }
}

export default function buildOnce(project: TestProject): void {
  const root = fileURLToPath(new URL('../..', import.meta.url));
  const { status, stderr } = spawnSync(process.execPath, ['build.mjs', '--if-stale'], {
    cwd: root,
    encoding: 'utf8',
  });
  project.provide('buildFailure', status === 0 ? '' : stderr || `build.mjs ended with ${status}`);
}
