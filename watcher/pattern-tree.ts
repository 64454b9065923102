// Many patterns as one tree of path segments, so that a crawl goes down each directory once.

import {
  type Bindings,
  matchPattern,
  type Pattern,
  type PatternPart,
  type Segment,
} from '../schema/pattern.ts';

export interface PatternNode {
  /** Indexes of the patterns that end here. */
  readonly here: number[];
  readonly named: Map<string, PatternNode>;
  /** By the segment as it was written, variable names included, so that patterns that share it share bindings. */
  readonly varying: Map<string, { readonly segment: Segment; readonly node: PatternNode }>;
}

/** A place in the tree together with what the variables above it were bound to. */
export interface Spot {
  readonly node: PatternNode;
  readonly bindings: Bindings;
}

/** From the top of the file system: a relative pattern goes on from the root's own names. */
export function buildPatternTree(patterns: readonly Pattern[], root: string): PatternNode {
  const tree = emptyNode();
  const start = root.split('/').filter((name) => name !== '');
  for (const [index, pattern] of patterns.entries()) {
    let node = tree;
    for (const segment of fromTop(pattern, start)) node = childOf(node, segment);
    node.here.push(index);
  }
  return tree;
}

export function topOf(tree: PatternNode): Spot {
  return { node: tree, bindings: joinBindings({}, {}) };
}

export interface NextStep {
  /** Names that are written out or known by now. */
  readonly named: ReadonlyMap<string, readonly Spot[]>;
  readonly matchers: readonly Matcher[];
}

export interface Matcher {
  /** Whether a variable takes the name's first character. */
  readonly opensWithVariable: boolean;
  match(name: string): Spot | null;
}

/** What the entries of one directory can be, given where the crawl stands in the tree. */
export function nextStep(spots: readonly Spot[]): NextStep {
  const named = new Map<string, Spot[]>();
  const matchers: Matcher[] = [];
  const expect = (name: string, spot: Spot) => {
    const expected = named.get(name);
    if (expected === undefined) named.set(name, [spot]);
    else expected.push(spot);
  };
  for (const { node, bindings } of spots) {
    for (const [name, child] of node.named) expect(name, { node: child, bindings });
    for (const branch of node.varying.values()) {
      const segment = bind(branch.segment, bindings);
      const name = literalName(segment);
      if (name === null) matchers.push(createMatcher(segment, branch.node, bindings));
      else expect(name, { node: branch.node, bindings });
    }
  }
  return { named, matchers };
}

function emptyNode(): PatternNode {
  return { here: [], named: new Map(), varying: new Map() };
}

/** The root is where links were resolved, so `..` simply takes a name away. */
function fromTop(pattern: Pattern, start: readonly string[]): Segment[] {
  const segments: Segment[] = pattern.absolute ? [] : start.map((text) => [{ kind: 'literal', text }]);
  for (const segment of pattern.segments) {
    if (literalName(segment) === '..') segments.pop();
    else segments.push(segment);
  }
  return segments;
}

function childOf(node: PatternNode, segment: Segment): PatternNode {
  const name = literalName(segment);
  const written = segment.map((part) => (part.kind === 'literal' ? part.text : `{${part.name}}`)).join('');
  const known = name === null ? node.varying.get(written)?.node : node.named.get(name);
  if (known !== undefined) return known;
  const made = emptyNode();
  if (name === null) node.varying.set(written, { segment, node: made });
  else node.named.set(name, made);
  return made;
}

/** A variable that a directory further up has bound is a literal from there on, one with those beside it. */
function bind(segment: Segment, bindings: Bindings): Segment {
  const bound: PatternPart[] = [];
  for (const part of segment) {
    const text = part.kind === 'literal' ? part.text : bindings[part.name];
    const last = bound.at(-1);
    if (text === undefined) bound.push(part);
    else if (last?.kind === 'literal') bound[bound.length - 1] = { kind: 'literal', text: last.text + text };
    else bound.push({ kind: 'literal', text });
  }
  return bound;
}

/** Without a prototype, because a variable may be called `constructor`. */
function joinBindings(above: Bindings, own: Bindings): Bindings {
  return Object.assign(Object.create(null), above, own);
}

function createMatcher(segment: Segment, node: PatternNode, above: Bindings): Matcher {
  const pattern: Pattern = {
    text: '',
    absolute: false,
    directory: false,
    segments: [segment],
    variables: [],
  };
  const [first, last] = [segment[0]!, segment.at(-1)!];
  const prefix = first.kind === 'literal' ? first.text : '';
  const suffix = last.kind === 'literal' ? last.text : '';
  const isBound = Object.keys(above).length > 0;
  return {
    opensWithVariable: first.kind === 'variable',
    match(name) {
      // Most names of a large directory belong to other patterns; this tells without taking the name apart.
      if (!name.endsWith(suffix) || !name.startsWith(prefix)) return null;
      const own = matchPattern(pattern, name);
      if (own === null) return null;
      return { node, bindings: isBound ? joinBindings(above, own) : own };
    },
  };
}

function literalName(segment: Segment): string | null {
  const [only] = segment;
  return segment.length === 1 && only?.kind === 'literal' ? only.text : null;
}
