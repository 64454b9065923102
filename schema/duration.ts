// Lengths of time as people write them in workflow files, and as we show them back.

export type ParsedDuration =
  | { readonly ok: true; readonly ms: number }
  | { readonly ok: false; readonly message: string; readonly hint: string };

/** A bare number, written as one or inside a string, is seconds. */
export function parseDuration(text: string | number): ParsedDuration {
  const written = String(text).trim();
  const match = DURATION.exec(written);
  if (match === null) return refused(written);
  const exact = Number(match[1]) * UNIT_MS[match[2] ?? 's']!;
  if (exact > Number.MAX_SAFE_INTEGER) return refused(written);
  // Zero often means "no limit", so a positive duration must never round down to it.
  return { ok: true, ms: exact > 0 ? Math.max(1, Math.round(exact)) : 0 };
}

/** For people: at most two units, and tenths of a second below ten seconds. */
export function formatDuration(ms: number): string {
  if (ms < 999.5) return `${Math.max(0, Math.round(ms))}ms`;
  if (ms < 9_950) return `${Math.round(ms / 100) / 10}s`;
  let rest = Math.round(ms / 1_000);
  const parts: string[] = [];
  for (const [unit, seconds] of LARGEST_FIRST) {
    const count = Math.floor(rest / seconds);
    rest -= count * seconds;
    if (count > 0) parts.push(`${count}${unit}`);
    else if (parts.length > 0) break;
    if (parts.length === 2) break;
  }
  return parts.join(' ');
}

const DURATION = /^(\d+(?:\.\d+)?)\s*(ms|s|m|h|d)?$/;

/** For JSON Schema, so that an editor tells a wrong unit while it is typed. */
export const DURATION_PATTERN = DURATION.source;

const UNIT_MS: Readonly<Record<string, number>> = {
  ms: 1,
  s: 1_000,
  m: 60_000,
  h: 3_600_000,
  d: 86_400_000,
};
const LARGEST_FIRST: readonly (readonly [string, number])[] = [
  ['d', 86_400],
  ['h', 3_600],
  ['m', 60],
  ['s', 1],
];

function refused(written: string): ParsedDuration {
  const got = written.length > 40 ? `${written.slice(0, 40)}…` : written;
  return {
    ok: false,
    message: `expected a duration such as 500ms, 5s, 10m, 2h, got ${JSON.stringify(got)}`,
    hint: 'write a number that is not negative and one of the units ms, s, m, h, d; without a unit it is seconds',
  };
}
