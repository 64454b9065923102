// The rows of the text drawing: which rails stand left of which stage.

import type { StageId } from '../../../schema/words.ts';
import type { Twig } from './flow-tree.ts';

export interface Row {
  readonly id: StageId;
  /** The rails left of the stage. */
  readonly rails: string;
}

export function rowsOf(roots: readonly Twig[]): Row[] {
  const rows: Row[] = [];
  for (const root of roots) {
    rows.push({ id: root.id, rails: '' });
    followRail(root, '', rows);
  }
  return rows;
}

/** Down one column; a recursion only per branch, so that a chain of any length is a loop. */
function followRail(start: Twig, rails: string, rows: Row[]): void {
  for (let rail: Twig | null = start; rail !== null; ) {
    const { branches, main } = split(rail.children);
    for (const [index, branch] of branches.entries()) {
      const isEnd = main === null && index === branches.length - 1;
      rows.push({ id: branch.id, rails: `${rails}${isEnd ? '╰─' : '├─'}` });
      followRail(branch, `${rails}${isEnd ? '  ' : '│ '}`, rows);
    }
    if (main !== null) rows.push({ id: main.id, rails });
    rail = main;
  }
}

/** The child that goes on in its parent's column: the only one, the last join, or by far the largest. */
function split(children: readonly Twig[]): { branches: readonly Twig[]; main: Twig | null } {
  const hasJoin = children.some((child) => child.joins);
  const sorted = hasJoin ? children : [...children].sort((a, b) => a.size - b.size);
  const last = sorted.at(-1);
  if (last === undefined) return { branches: [], main: null };
  const branches = sorted.slice(0, -1);
  const others = branches.reduce((sum, branch) => sum + branch.size, 0);
  const isMain = last.joins || (!hasJoin && last.size > others);
  return isMain ? { branches, main: last } : { branches: sorted, main: null };
}
