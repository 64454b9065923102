// Which of many patterns a concrete path is one of, without trying each of them.

import { type Bindings, matchPattern, type Pattern, type Segment } from './pattern.ts';

export interface PathMatch<T> {
  readonly value: T;
  readonly bindings: Bindings;
}

interface Node<T> {
  readonly named: Map<string, Node<T>>;
  readonly varying: { readonly prefix: string; readonly suffix: string; readonly node: Node<T> }[];
  readonly here: { readonly pattern: Pattern; readonly value: T }[];
}

/** Patterns and paths are absolute. */
export class PathMatcher<T> {
  readonly #top: Node<T> = emptyNode();

  add(pattern: Pattern, value: T): void {
    let node = this.#top;
    for (const segment of pattern.segments) node = childOf(node, segment);
    node.here.push({ pattern, value });
  }

  match(path: string): PathMatch<T>[] {
    const found: PathMatch<T>[] = [];
    visit(this.#top, namesOf(path), 0, (node, depth, names) => {
      if (depth === names.length) collect(node, path, found);
    });
    return found;
  }

  /** Patterns of the directories that the path is inside of. */
  around(path: string): PathMatch<T>[] {
    const found: PathMatch<T>[] = [];
    visit(this.#top, namesOf(path), 0, (node, depth, names) => {
      if (depth < names.length && node.here.length > 0)
        collect(node, `/${names.slice(0, depth).join('/')}`, found);
    });
    return found;
  }
}

function emptyNode<T>(): Node<T> {
  return { named: new Map(), varying: [], here: [] };
}

function namesOf(path: string): readonly string[] {
  return path.split('/').filter((name) => name !== '');
}

function visit<T>(
  node: Node<T>,
  names: readonly string[],
  depth: number,
  see: (node: Node<T>, depth: number, names: readonly string[]) => void,
): void {
  see(node, depth, names);
  const name = names[depth];
  if (name === undefined) return;
  const named = node.named.get(name);
  if (named !== undefined) visit(named, names, depth + 1, see);
  for (const { prefix, suffix, node: next } of node.varying) {
    if (name.length > prefix.length + suffix.length && name.startsWith(prefix) && name.endsWith(suffix))
      visit(next, names, depth + 1, see);
  }
}

/** The tree looks at the ends of names only; whether the whole path fits is the pattern's word. */
function collect<T>(node: Node<T>, path: string, found: PathMatch<T>[]): void {
  for (const { pattern, value } of node.here) {
    const bindings = matchPattern(pattern, path);
    if (bindings !== null) found.push({ value, bindings });
  }
}

function childOf<T>(node: Node<T>, segment: Segment): Node<T> {
  const [first, last] = [segment[0]!, segment.at(-1)!];
  if (segment.length === 1 && first.kind === 'literal') {
    const known = node.named.get(first.text) ?? emptyNode<T>();
    node.named.set(first.text, known);
    return known;
  }
  const prefix = first.kind === 'literal' ? first.text : '';
  const suffix = last.kind === 'literal' ? last.text : '';
  const known = node.varying.find((each) => each.prefix === prefix && each.suffix === suffix);
  if (known !== undefined) return known.node;
  const made = emptyNode<T>();
  node.varying.push({ prefix, suffix, node: made });
  return made;
}
