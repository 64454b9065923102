// What the figures were measured on, told before every bench, and the file that keeps them for other programs.

import { mkdirSync, writeFileSync } from 'node:fs';
import { cpus, loadavg } from 'node:os';
import { fileURLToPath } from 'node:url';

const RESULTS = fileURLToPath(new URL('results/', import.meta.url));
/** Per core; above it other work takes turns with what is measured. */
const QUIET_LOAD = 0.5;
/** From before the bench itself makes the machine busy. */
const before = { at: new Date().toISOString(), load: loadavg() };

export function tellMachine() {
  const [{ model }] = cpus();
  const [load] = before.load;
  console.log(`${cpus().length} × ${model}, Node ${process.version}, load ${load.toFixed(1)}`);
  if (load > QUIET_LOAD * cpus().length)
    console.log(`warning: the load is above ${QUIET_LOAD} per core, so the ratios are noisy`);
}

export function keepResults(name, results) {
  mkdirSync(RESULTS, { recursive: true });
  const about = { ...before, node: process.version, cpus: cpus().length, cpu: cpus()[0].model };
  writeFileSync(`${RESULTS}${name}.json`, `${JSON.stringify({ ...about, ...results }, null, 2)}\n`);
  console.log(`\nbench/results/${name}.json has every figure that was taken`);
}
