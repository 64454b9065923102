// Finds which of many paths and patterns another one can meet, without comparing it with each of them.

import type { Pattern, Segment } from './pattern.ts';
import { segmentsOverlap } from './pattern-overlap.ts';

export interface Meeting<T> {
  /** How the found path stands to the one asked for: the same place, below it, or a directory above it. */
  readonly relation: 'same' | 'below' | 'above';
  readonly pattern: Pattern;
  readonly value: T;
}

interface Branch<T> {
  readonly segment: Segment;
  readonly node: TreeNode<T>;
}

interface TreeNode<T> {
  readonly named: Map<string, TreeNode<T>>;
  readonly varying: Map<string, Branch<T>>;
  readonly here: { readonly pattern: Pattern; readonly value: T }[];
}

export class PathIndex<T> {
  readonly #roots = new Map<string, TreeNode<T>>();

  add(target: string, pattern: Pattern, value: T): void {
    let node = this.#root(target, pattern);
    for (const segment of pattern.segments) node = child(node, segment);
    node.here.push({ pattern, value });
  }

  meet(target: string, pattern: Pattern): Meeting<T>[] {
    const found: Meeting<T>[] = [];
    let level = [this.#root(target, pattern)];
    for (const segment of pattern.segments) {
      for (const node of level) collect(node, 'above', found);
      level = level.flatMap((node) => meeting(node, segment));
    }
    for (const node of level) {
      collect(node, 'same', found);
      collectBelow(node, found);
    }
    return found;
  }

  #root(target: string, pattern: Pattern): TreeNode<T> {
    const key = `${pattern.absolute ? '/' : ''}\0${target}`;
    let root = this.#roots.get(key);
    if (root === undefined) {
      root = emptyNode();
      this.#roots.set(key, root);
    }
    return root;
  }
}

/** Two patterns of one shape name the same paths, whatever their variables are called. */
export function shapeOf(pattern: Pattern): string {
  return (pattern.absolute ? '/' : '') + pattern.segments.map(segmentShape).join('/');
}

function emptyNode<T>(): TreeNode<T> {
  return { named: new Map(), varying: new Map(), here: [] };
}

function child<T>(node: TreeNode<T>, segment: Segment): TreeNode<T> {
  const name = literalName(segment);
  const shape = segmentShape(segment);
  const known = name === null ? node.varying.get(shape)?.node : node.named.get(name);
  if (known !== undefined) return known;
  const made = emptyNode<T>();
  if (name === null) node.varying.set(shape, { segment, node: made });
  else node.named.set(name, made);
  return made;
}

function meeting<T>(node: TreeNode<T>, segment: Segment): TreeNode<T>[] {
  const name = literalName(segment);
  const found: TreeNode<T>[] = [];
  if (name === null) {
    for (const [other, next] of node.named) {
      if (segmentsOverlap(segment, [{ kind: 'literal', text: other }])) found.push(next);
    }
  } else {
    const same = node.named.get(name);
    if (same !== undefined) found.push(same);
  }
  for (const branch of node.varying.values()) {
    if (segmentsOverlap(segment, branch.segment)) found.push(branch.node);
  }
  return found;
}

function collect<T>(node: TreeNode<T>, relation: Meeting<T>['relation'], into: Meeting<T>[]): void {
  for (const { pattern, value } of node.here) into.push({ relation, pattern, value });
}

/** Without recursion: a path may have more segments than the stack has room for. */
function collectBelow<T>(node: TreeNode<T>, into: Meeting<T>[]): void {
  const pending = childrenOf(node).reverse();
  for (let below = pending.pop(); below !== undefined; below = pending.pop()) {
    collect(below, 'below', into);
    for (const next of childrenOf(below).reverse()) pending.push(next);
  }
}

function childrenOf<T>(node: TreeNode<T>): TreeNode<T>[] {
  return [...node.named.values(), ...[...node.varying.values()].map((branch) => branch.node)];
}

function literalName(segment: Segment): string | null {
  const [only] = segment;
  return segment.length === 1 && only?.kind === 'literal' ? only.text : null;
}

function segmentShape(segment: Segment): string {
  return segment.map((part) => (part.kind === 'literal' ? part.text : '{}')).join('');
}
