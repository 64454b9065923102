// Medians, and the tables they are printed in.

export function median(values: readonly number[]): number {
  return quantile(values, 0.5);
}

export function quantile(values: readonly number[], share: number): number {
  const sorted = [...values].sort((a, b) => a - b);
  return sorted[Math.min(sorted.length - 1, Math.floor(sorted.length * share))] ?? Number.NaN;
}

/** Names to the left, figures to the right; what stands beyond the head is a remark and takes what room it needs. */
export function formatTable(head: readonly string[], rows: readonly (readonly string[])[]): string {
  const widths = head.map((title, i) => Math.max(title.length, ...rows.map((row) => widthOf(row, i))));
  const line = (row: readonly string[]) =>
    row.map((cell, i) => (i === 0 ? cell.padEnd(widths[0]!) : cell.padStart(widths[i] ?? 0))).join('  ');
  return [head, ...rows].map((row) => line(row).trimEnd()).join('\n');
}

/** A row of a name and a remark has no figures. */
function widthOf(row: readonly string[], i: number): number {
  return i > 0 && row.length <= 2 ? 0 : (row[i]?.length ?? 0);
}

export function rounded(value: number): string {
  if (value >= 100) return Math.round(value).toLocaleString('en');
  return value >= 10 ? value.toFixed(1) : value.toFixed(2);
}

export function times(ratio: number): string {
  return Number.isFinite(ratio) ? `${ratio.toFixed(2)}×` : '–';
}
