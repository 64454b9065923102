// Which looks a path asks for: the one place that decides whether a path matters, for the whole disk and for one name.

import type { Disk } from '../host/disk.ts';
import type { IgnoreRule } from '../host/ignore.ts';
import { type Pattern, parsePattern } from '../schema/pattern.ts';
import { buildPatternTree, nextStep, type PatternNode, type Spot, topOf } from './pattern-tree.ts';
import { spotsOf, type Visit } from './scan.ts';

/** As the control plane lists them. */
export interface LookedFor {
  readonly pattern: string;
  readonly glob: string | null;
  readonly role?: 'dep' | 'code' | 'out' | 'source';
}

export interface Place {
  readonly pattern: Pattern;
  readonly glob: string | null;
  readonly role: LookedFor['role'];
}

export type Asked =
  /** Of the path and whatever patterns match below it. */
  | (Visit & { readonly kind: 'crawl' })
  /** Of what a fan-out picks at or below `below` in its directory. */
  | { readonly kind: 'glob'; readonly directory: string; readonly glob: string; readonly below: string };

export interface SightOptions {
  readonly root: string;
  readonly ignore: IgnoreRule;
  readonly disk: Disk;
}

export class Sight {
  readonly places: readonly Place[];
  readonly patterns: readonly Pattern[];
  readonly options: SightOptions;
  readonly #tree: PatternNode;

  constructor(lookedFor: readonly LookedFor[], options: SightOptions) {
    this.options = options;
    this.places = distinct(lookedFor).map(({ pattern, glob, role }) => ({
      ...{ pattern: absolute(pattern), glob, role },
    }));
    this.patterns = this.places.map(({ pattern }) => pattern);
    this.#tree = buildPatternTree(this.patterns, options.root);
  }

  /** Costs as much as the path is long and patterns lie on its way, however many files there are. */
  at(path: string): readonly Asked[] {
    const { ignore } = this.options;
    const names = path.split('/').filter((name) => name !== '');
    const asked: Asked[] = [];
    let spots: readonly Spot[] = [topOf(this.#tree)];
    for (const [depth, name] of names.entries()) {
      if (spots.length === 0) return asked;
      const directory = `/${names.slice(0, depth).join('/')}`;
      asked.push(...this.#around(directory, spots, names.slice(depth)));
      spots = spotsOf(nextStep(spots), name, ignore);
    }
    if (spots.length > 0) asked.push({ kind: 'crawl', path, spots });
    return asked;
  }

  /** Inside a directory that is a dep as a whole, or whose files are picked. */
  #around(directory: string, spots: readonly Spot[], inside: readonly string[]): Asked[] {
    const ending = spots.filter(({ node }) => node.here.length > 0);
    if (ending.length === 0) return [];
    const globs = new Set<string>();
    let isWhole = false;
    for (const place of ending.flatMap(({ node }) => node.here.map((index) => this.places[index]!))) {
      if (place.glob === null) isWhole = true;
      else globs.add(place.glob);
    }
    const below = inside.join('/');
    const asked: Asked[] = [...globs].map((glob) => ({ kind: 'glob', directory, glob, below }));
    // Only the directory itself: what is sought further down is asked for by the path's own spots.
    if (isWhole && !inside.some((name) => this.options.ignore.ignores(name)))
      asked.push({ kind: 'crawl', path: directory, spots: ending.map(withoutBelow) });
    return asked;
  }
}

function withoutBelow({ node, bindings }: Spot): Spot {
  return { node: { here: node.here, named: new Map(), varying: new Map() }, bindings };
}

function distinct(patterns: readonly LookedFor[]): readonly LookedFor[] {
  return [...new Map(patterns.map((each) => [`${each.pattern}\0${each.glob}\0${each.role}`, each])).values()];
}

function absolute(text: string): Pattern {
  const parsed = parsePattern(text);
  if (!parsed.ok) throw new Error(`not a pattern after registering: ${text}`);
  return parsed.pattern;
}
