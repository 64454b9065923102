// `npm run bench`: every part, one after the other, then the table of aims. `--quick` takes a few minutes.

import { spawnSync } from 'node:child_process';
import { PARTS } from './measure/machine.ts';

const args = process.argv.slice(2);
let failed = 0;
for (const part of PARTS) failed += start(part, args);
failed += start('aims', []);
process.exitCode = failed === 0 ? 0 : 1;

/** A part that fails does not keep the others from being measured. */
function start(name: string, own: readonly string[]): 0 | 1 {
  console.log(`\n== ${name}`);
  const begun = performance.now();
  const bench = ['bench/run-ts.mjs', `bench/${name}.ts`, ...own];
  const { status } = spawnSync(process.execPath, bench, { stdio: 'inherit' });
  console.log(`== ${name} took ${((performance.now() - begun) / 1_000).toFixed(0)} s`);
  if (status === 0) return 0;
  console.log(`== ${name} failed`);
  return 1;
}
