// What the figures were measured on, told before every bench, and the files that keep them for other programs.

import { existsSync, mkdirSync, readFileSync, writeFileSync } from 'node:fs';
import { cpus, loadavg, totalmem } from 'node:os';
import type { Row } from './contest.ts';

const RESULTS = 'bench/results';
/** Per core; above it other work takes turns with what is measured. */
const QUIET_LOAD = 0.5;
/** From before the bench itself makes the machine busy. */
const BEFORE = { at: new Date().toISOString(), load: loadavg()[0]! };

export const PARTS = ['start-up', 'run', 'drop', 'hashing', 'control-plane'] as const;
export type Part = (typeof PARTS)[number];

/** Of one part, as `bench/results/PART.json` keeps it. */
export interface Results {
  readonly at: string;
  readonly machine: string;
  readonly load: number;
  readonly quick: boolean;
  readonly rows: readonly Row[];
  /** What is no contest: sizes, shares, seconds of a start. By name. */
  readonly facts: Readonly<Record<string, number>>;
}

export function tellMachine(): void {
  console.log(`${machine()}, load ${BEFORE.load.toFixed(1)}`);
  if (BEFORE.load > QUIET_LOAD * cpus().length)
    console.log(`warning: the load is above ${QUIET_LOAD} per core, so the ratios are noisy`);
}

function machine(): string {
  const memory = `${Math.round(totalmem() / 2 ** 30)} GiB`;
  return `${cpus().length} × ${cpus()[0]?.model ?? 'unknown'}, ${memory}, Node ${process.version}`;
}

/** What was measured of only a part of a part lies beside the whole, so that it does not take its place. */
export function keepResults(
  part: Part,
  results: Pick<Results, 'quick' | 'rows' | 'facts'> & { readonly isWhole?: boolean },
): void {
  mkdirSync(RESULTS, { recursive: true });
  const { isWhole = true, ...taken } = results;
  const file = `${RESULTS}/${part}${isWhole ? '' : '.partial'}.json`;
  const kept: Results = { ...BEFORE, machine: machine(), ...taken };
  writeFileSync(file, `${JSON.stringify(kept, null, 2)}\n`);
  console.log(`\n${file} has every figure that was taken`);
}

export function readResults(part: Part): Results | null {
  const file = `${RESULTS}/${part}.json`;
  return existsSync(file) ? (JSON.parse(readFileSync(file, 'utf8')) as Results) : null;
}
