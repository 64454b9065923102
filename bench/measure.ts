// Medians of what was measured, and the table they are printed in.

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
