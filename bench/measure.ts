// Medians of what was measured, the table they are printed in, and the file they are kept in.

import { mkdirSync, writeFileSync } from 'node:fs';
import { cpus, loadavg } from 'node:os';

const RESULTS = 'bench/results';
/** From before the bench itself makes the machine busy. */
const BEFORE = { at: new Date().toISOString(), load: loadavg() };

export function median(values: readonly number[]): number {
  const sorted = [...values].sort((a, b) => a - b);
  return sorted[Math.floor(sorted.length / 2)]!;
}

/** How many milliseconds each of `times` calls took, one after the other. */
export async function timesOf(times: number, act: (nth: number) => Promise<unknown>): Promise<number[]> {
  const taken: number[] = [];
  for (let nth = 0; nth < times; nth++) {
    const began = performance.now();
    await act(nth);
    taken.push(performance.now() - began);
  }
  return taken;
}

/** Texts to the left, numbers to the right. */
export function formatTable(head: readonly string[], rows: readonly (readonly string[])[]): string {
  const all = [head, ...rows];
  const widths = head.map((_, i) => Math.max(...all.map((row) => (row[i] ?? '').length)));
  const line = (row: readonly string[]) =>
    row.map((cell, i) => (i === 0 ? cell.padEnd(widths[i]!) : cell.padStart(widths[i]!))).join('  ');
  return `${all.map((row) => line(row).trimEnd()).join('\n')}\n`;
}

export function rounded(value: number): string {
  if (value >= 100) return Math.round(value).toLocaleString('en');
  return value >= 10 ? value.toFixed(1) : value.toFixed(2);
}

export function keepResults(name: string, results: object): void {
  mkdirSync(RESULTS, { recursive: true });
  const about = { ...BEFORE, node: process.version, cpus: cpus().length, cpu: cpus()[0]?.model };
  const file = `${RESULTS}/${name}.json`;
  writeFileSync(file, `${JSON.stringify({ ...about, ...results }, null, 2)}\n`);
  console.log(`${file} has every figure that was taken`);
}
