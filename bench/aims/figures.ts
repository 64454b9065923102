// The figures that aims are about, looked up in what was measured; null is what was not.

import type { Row } from '../measure/contest.ts';
import type { Part, Results } from '../measure/machine.ts';

export interface Which {
  readonly part: Part;
  readonly workload: string;
  readonly size: number;
  readonly contender: string;
}

export interface Figures {
  row(which: Which): Row | null;
  /** Of the median times of two rows. */
  ratio(of: Which, to: Which): number | null;
  /** To the fastest of several, as far as they were measured. */
  toFastest(of: Which, others: readonly string[]): number | null;
  fact(part: Part, name: string): number | null;
}

export function openFigures(results: ReadonlyMap<Part, Results | null>): Figures {
  const row = ({ part, workload, size, contender }: Which) =>
    results
      .get(part)
      ?.rows.find(
        (each) =>
          each.workload === workload &&
          each.size === size &&
          each.contender === contender &&
          each.times.length > 0,
      ) ?? null;
  const ratio = (of: Which, to: Which) => {
    const [a, b] = [row(of), row(to)];
    return a === null || b === null ? null : a.seconds / b.seconds;
  };
  return {
    row,
    ratio,
    toFastest: (of, others) => {
      const ratios = others.flatMap((contender) => ratio(of, { ...of, contender }) ?? []);
      return ratios.length === 0 ? null : Math.max(...ratios);
    },
    fact: (part, name) => results.get(part)?.facts[name] ?? null,
  };
}
