// What is wrong with a file: the place, the fact and the next step, as a value.

/** Offsets into the source text, in UTF-16 units; `end` is exclusive. */
export interface Span {
  readonly start: number;
  readonly end: number;
}

export interface Diagnostic {
  readonly severity: 'error' | 'warning';
  /** Stable and kebab-case, so that scripts and tests can tell mistakes apart. */
  readonly code: string;
  readonly message: string;
  /** What to do next, as an instruction. */
  readonly hint: string;
  readonly span: Span;
}

export type Report = (diagnostic: Diagnostic) => void;

/** The known name closest to a mistyped one, or undefined if none is close enough to suggest. */
export function nearest(name: string, known: Iterable<string>): string | undefined {
  let best: string | undefined;
  let bestDistance = Math.max(1, Math.floor(name.length / 3)) + 1;
  for (const candidate of known) {
    if (Math.abs(candidate.length - name.length) >= bestDistance) continue;
    const distance = editDistance(name.toLowerCase(), candidate.toLowerCase());
    if (distance < bestDistance) {
      best = candidate;
      bestDistance = distance;
    }
  }
  return best;
}

/** "did you mean 'x'?" or the list of what is known, whichever helps more. */
export function suggest(name: string, known: readonly string[]): string {
  const close = nearest(name, known);
  if (close !== undefined) return `did you mean '${close}'?`;
  if (known.length === 0) return 'none is defined here';
  const shown = known.slice(0, 12).join(', ');
  return known.length > 12 ? `known: ${shown}, …` : `known: ${shown}`;
}

/** Counts a letter added, lost, replaced, or swapped with its neighbour as one slip each. */
function editDistance(a: string, b: string): number {
  const rows = [Array.from({ length: b.length + 1 }, (_, j) => j)];
  for (let i = 1; i <= a.length; i++) {
    const row = [i];
    for (let j = 1; j <= b.length; j++) {
      const cost = a[i - 1] === b[j - 1] ? 0 : 1;
      const isSwap = i > 1 && j > 1 && a[i - 1] === b[j - 2] && a[i - 2] === b[j - 1];
      const swapped = isSwap ? rows[i - 2]![j - 2]! + 1 : Number.POSITIVE_INFINITY;
      row.push(Math.min(rows[i - 1]![j]! + 1, row[j - 1]! + 1, rows[i - 1]![j - 1]! + cost, swapped));
    }
    rows.push(row);
  }
  return rows[a.length]![b.length]!;
}

/** A name as it may be shown to a person: control characters, line breaks and bidi marks escaped. */
export function shown(name: string): string {
  return name.replace(/[\p{Cc}\p{Cf}\p{Zl}\p{Zp}\p{Cs}]/gu, (c) => {
    const named = { '\n': '\\n', '\r': '\\r', '\t': '\\t' }[c];
    return named ?? `\\u{${c.codePointAt(0)!.toString(16)}}`;
  });
}
