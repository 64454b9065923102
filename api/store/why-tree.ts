// Makes a tree of what is unsettled above a state, each state told once, with the word that follows from it.

import type { NamedState, ToldReason, WhyAnswer } from '../../schema/read-answers.ts';
import { explain } from '../../schema/reason.ts';
import type { StoredWord } from '../../schema/status-words.ts';
import type { Row } from './database.ts';
import { isoTime, relativeTo } from './look-up.ts';
import { toldReasons } from './told-reasons.ts';

const MOST_DEPTH = 30;

interface Node {
  readonly row: Row;
  readonly waitsFor: string[];
  readonly after: Row[];
  readonly upstream: Edge[];
  /** Unsettled states directly above, told or not. */
  open: number;
}

interface Edge {
  readonly to: number;
  /** It is of no use while that one has given up. */
  readonly blocks: boolean;
}

export class WhyTree {
  readonly #nodes: ReadonlyMap<number, Node>;
  readonly #omits: (stage: number) => boolean;
  readonly #told = new Set<number>();
  readonly #gaveUp = new Map<number, ReadonlySet<number>>();

  constructor(details: readonly Row[], omits: (stage: number) => boolean) {
    this.#nodes = new Map(
      details.map((row) => [row.id as number, { row, waitsFor: [], after: [], upstream: [], open: 0 }]),
    );
    this.#omits = omits;
  }

  link(edges: readonly Row[], missing: readonly Row[], after: readonly Row[]): this {
    const nodeOf = ({ state_id }: Row) => this.#nodes.get(state_id as number)!;
    for (const row of missing) nodeOf(row).waitsFor.push(row.path as string);
    for (const row of after) nodeOf(row).after.push(row);
    for (const row of edges) {
      const node = nodeOf(row);
      node.open += 1;
      const blocks = row.member === 0 || !this.#omits(node.row.stage_id as number);
      if (this.#nodes.has(row.maker as number)) node.upstream.push({ to: row.maker as number, blocks });
    }
    return this;
  }

  /** What is only reached through settled states stands directly below the state that was asked about. */
  tell(root: number): WhyAnswer {
    const reached = this.#reachedFrom(root);
    const isBelow = new Set(
      [...this.#nodes.values()].flatMap(({ upstream }) => upstream.map(({ to }) => to)),
    );
    const top = this.#nodes.get(root)!;
    for (const to of this.#nodes.keys()) {
      if (reached.has(to) || isBelow.has(to)) continue;
      top.upstream.push({ to, blocks: true });
      top.open += 1;
    }
    return this.#tell(root, 0);
  }

  #tell(id: number, depth: number): WhyAnswer {
    this.#told.add(id);
    const node = this.#nodes.get(id)!;
    const { row, upstream, waitsFor, after } = node;
    const gaveUp = this.#gaveUpAbove(id);
    const told: WhyAnswer[] = [];
    for (const { to } of upstream)
      if (!this.#told.has(to) && depth < MOST_DEPTH) told.push(this.#tell(to, depth + 1));
    return {
      ...nameOf(row),
      status: row.status as StoredWord,
      ...wordOf(node, gaveUp.size > 0),
      reasons: toldReasons(row, row.root as string).map(
        (reason): ToldReason => ({ ...reason, sentence: explain(reason) }),
      ),
      waits_for: waitsFor.map((path) => relativeTo(row.root as string, path)),
      after: after.map((each) => ({
        workflow: each.workflow as string,
        stage: each.stage as string,
        unsettled: each.unsettled as number,
      })),
      retry_at: row.status === 'failed' ? isoTime(row.retry_at) : null,
      blocked_by: [...gaveUp].map((each) => nameOf(this.#nodes.get(each)!.row)),
      upstream: told,
      ...(node.open > told.length ? { more: node.open - told.length } : {}),
    };
  }

  #reachedFrom(root: number): ReadonlySet<number> {
    const reached = new Set<number>();
    const open = [root];
    for (let next = open.pop(); next !== undefined; next = open.pop()) {
      if (reached.has(next)) continue;
      reached.add(next);
      open.push(...this.#nodes.get(next)!.upstream.map(({ to }) => to));
    }
    return reached;
  }

  #gaveUpAbove(id: number): ReadonlySet<number> {
    const known = this.#gaveUp.get(id);
    if (known !== undefined) return known;
    const above = new Set<number>();
    this.#gaveUp.set(id, above);
    for (const { to, blocks } of this.#nodes.get(id)!.upstream) {
      if (!blocks) continue;
      if (this.#nodes.get(to)!.row.status === 'exhausted') above.add(to);
      for (const each of this.#gaveUpAbove(to)) above.add(each);
    }
    return above;
  }
}

function nameOf(row: Row): NamedState {
  return { workflow: row.workflow as string, stage: row.stage as string, entity: row.entity as string };
}

function wordOf(node: Node, isBlocked: boolean): Pick<WhyAnswer, 'word' | 'cause'> {
  const { row, waitsFor, after, open } = node;
  if (row.status === 'failed') return { word: 'failed', cause: 'retry' };
  if (row.status !== 'stale') return { word: row.status as StoredWord, cause: null };
  if (isBlocked || after.some(({ gave_up }) => gave_up === 1)) return { word: 'blocked', cause: 'gave-up' };
  if (waitsFor.length > 0) return { word: 'waiting', cause: 'missing' };
  if (open > 0) return { word: 'waiting', cause: 'upstream' };
  return after.length > 0 ? { word: 'waiting', cause: 'after' } : { word: 'stale', cause: null };
}
