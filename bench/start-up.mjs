// What `sluice --version` costs beside an empty `node -e 0`: medians of interleaved runs, and their ratio.

import { spawnSync } from 'node:child_process';
import { fileURLToPath } from 'node:url';

const PROGRAM = fileURLToPath(new URL('../bin/sluice.js', import.meta.url));
const ROUNDS = 31;
const floor = [];
const ours = [];

for (let i = 0; i < ROUNDS; i++) {
  floor.push(timeOf(['-e', '0']));
  ours.push(timeOf([PROGRAM, '--version']));
}
const [base, version] = [median(floor), median(ours)];
console.log(`node -e 0         ${base.toFixed(1)} ms`);
console.log(`sluice --version  ${version.toFixed(1)} ms  ${(version / base).toFixed(2)}×`);

function timeOf(args) {
  const start = process.hrtime.bigint();
  const { status } = spawnSync(process.execPath, args, { stdio: 'ignore' });
  if (status !== 0) throw new Error(`exit code ${status}: ${args.join(' ')}`);
  return Number(process.hrtime.bigint() - start) / 1e6;
}

function median(times) {
  return times.sort((a, b) => a - b)[Math.floor(times.length / 2)];
}
