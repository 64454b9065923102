// Which stage hangs below which in the text drawing: each once, below the place where its inputs meet.
//
// A stage with one input hangs below that input. A stage that joins several hangs below the last stage they
// all come from, so it is drawn after all of them: `left` and `right` first, then `join` under `load`.

import type { StageId } from '../../../schema/words.ts';

export interface Twig {
  readonly id: StageId;
  readonly parent: Twig | null;
  readonly level: number;
  readonly children: Twig[];
  /** Joins branches, so what stands above it in its column is not its input. */
  readonly joins: boolean;
  /** How many stages hang below, itself included. */
  size: number;
}

/** The roots: stages with nothing before them, and joins of branches that share nothing. */
export function flowTree(
  order: readonly StageId[],
  upstream: ReadonlyMap<StageId, readonly StageId[]>,
): Twig[] {
  const twigs = new Map<StageId, Twig>();
  const roots: Twig[] = [];
  for (const id of order) {
    const tips = withoutAncestors((upstream.get(id) ?? []).map((input) => twigs.get(input)!));
    const parent = tips.length === 0 ? null : tips.reduce<Twig | null>(meet, tips[0]!);
    const level = parent === null ? 0 : parent.level + 1;
    const twig: Twig = { id, parent, level, children: [], joins: tips.length > 1, size: 1 };
    twigs.set(id, twig);
    (parent?.children ?? roots).push(twig);
  }
  for (const twig of [...twigs.values()].reverse()) if (twig.parent) twig.parent.size += twig.size;
  return roots;
}

/** An input that another input already hangs below does not decide the place. */
function withoutAncestors(inputs: readonly Twig[]): Twig[] {
  const passed = new Set<Twig>();
  for (const input of inputs) {
    for (let at = input.parent; at !== null && !passed.has(at); at = at.parent) passed.add(at);
  }
  return inputs.filter((input) => !passed.has(input));
}

function meet(a: Twig | null, b: Twig | null): Twig | null {
  let [left, right] = [a, b];
  while (left !== right) {
    if (left === null || right === null) return null;
    if (left.level >= right.level) left = left.parent;
    else right = right.parent;
  }
  return left;
}
