// Medians, and the table they are printed in.

export function median(values) {
  const sorted = [...values].sort((a, b) => a - b);
  return sorted[Math.floor(sorted.length / 2)];
}

/** Names to the left, figures to the right; what stands beyond the head is a remark and takes what room it needs. */
export function table(head, rows) {
  const widths = head.map((title, i) =>
    Math.max(title.length, ...rows.map((row) => (row.length > 2 ? row[i].length : 0))),
  );
  widths[0] = Math.max(...rows.map(([name]) => name.length));
  const cell = (text, i) => (i === 0 ? text.padEnd(widths[0]) : text.padStart(widths[i] ?? 0));
  const line = (row) =>
    row.map(row.length > 2 ? cell : (text, i) => (i === 0 ? cell(text, 0) : text)).join('  ');
  return [head, ...rows].map((row) => line(row).trimEnd()).join('\n');
}
