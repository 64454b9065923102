// Disk → what the patterns of a workflow match, looking only where one of them can match.

import { DISK, type Disk, type DiskEntry, type Stamp, whyUnreadable } from '../host/disk.ts';
import { type IgnoreRule, isHidden } from '../host/ignore.ts';
import { listDirectory, NOT_UTF8 } from '../host/path-bytes.ts';
import { ENTRY_COST, runAtOnce, runInSlices, Slice, type Sliced } from '../host/slices.ts';
import type { Bindings, Pattern } from '../schema/pattern.ts';
import { buildPatternTree, type NextStep, nextStep, type Spot, topOf } from './pattern-tree.ts';

export interface Scan {
  /** Each path once. */
  readonly found: readonly Found[];
  readonly problems: readonly ScanProblem[];
}

export interface Found {
  /** Absolute, with only the root resolved through links. */
  readonly path: string;
  /** Of what a link leads to, if the path is one. */
  readonly stamp: Stamp;
  /** In the order of the patterns. */
  readonly matches: readonly Match[];
}

export interface Match {
  /** Index into the patterns asked for. */
  readonly pattern: number;
  readonly bindings: Bindings;
}

export interface ScanProblem {
  readonly path: string;
  readonly reason: string;
}

export interface ScanOptions {
  readonly patterns: readonly Pattern[];
  /** Absolute, with links resolved: what relative patterns are relative to. */
  readonly root: string;
  readonly ignore: IgnoreRule;
  readonly disk?: Disk;
}

export function scan(options: ScanOptions): Scan {
  return runAtOnce(scanAll(options));
}

/** The same with pauses: 100,000 files take a third of a second. */
export function scanInSlices(options: ScanOptions): Promise<Scan> {
  return runInSlices(scanAll(options));
}

function* scanAll(options: ScanOptions): Sliced<Scan> {
  const into: Mutable<Scan> = { found: [], problems: [] };
  const top = topOf(buildPatternTree(options.patterns, options.root));
  yield* crawl(options, { path: '/', spots: [top] }, into);
  return into;
}

type Mutable<T> = { readonly [K in keyof T]: T[K] extends readonly (infer E)[] ? E[] : T[K] };

/** Where a crawl goes on from, and what is sought there. */
export interface Visit {
  readonly path: string;
  readonly spots: readonly Spot[];
}

interface Crawl {
  readonly options: Omit<ScanOptions, 'root'>;
  readonly disk: Disk;
  readonly slice: Slice;
  readonly found: Found[];
  readonly problems: ScanProblem[];
  readonly ahead: Visit[];
}

/** What is found goes into `into`, from which it may be taken at every pause: a hundred thousand need not be held. */
export function* crawl(
  options: Omit<ScanOptions, 'root'>,
  { path, spots }: Visit,
  { found, problems }: Mutable<Scan>,
): Sliced<void> {
  const { disk = DISK } = options;
  const state: Crawl = { options, disk, slice: new Slice(), found, problems, ahead: [] };
  arrive(state, path, spots);
  for (let visit = state.ahead.pop(); visit !== undefined; visit = state.ahead.pop())
    yield* enter(state, visit);
}

/** Names that are written out are looked for one by one; only a variable takes listing the directory. */
function* enter(state: Crawl, { path, spots }: Visit): Sliced<void> {
  const step = nextStep(spots);
  const base = path === '/' ? '' : path;
  const listing = step.matchers.length === 0 ? null : listed(state, path);
  if (listing === null) {
    for (const [name, expected] of step.named) {
      if (state.slice.spend(ENTRY_COST)) yield;
      arrive(state, `${base}/${name}`, expected);
    }
    return;
  }
  for (const entry of listing.entries) {
    if (state.slice.spend(ENTRY_COST)) yield;
    const matching = spotsOf(step, entry.name, state.options.ignore);
    if (matching.length > 0) arrive(state, `${base}/${entry.name}`, matching, entry);
  }
  for (const { lossy, shown } of listing.unusable) {
    if (spotsOf(step, lossy, state.options.ignore).length > 0)
      state.problems.push({ path: `${base}/${shown}`, reason: NOT_UTF8 });
  }
}

function listed(state: Crawl, path: string) {
  try {
    return listDirectory(state.disk, path);
  } catch (error) {
    report(state, path, error);
    return null;
  }
}

/** What a name is in a directory, by the rules of every look. */
export function spotsOf(step: NextStep, name: string, ignore: IgnoreRule): readonly Spot[] {
  const spots = [...(step.named.get(name) ?? [])];
  if (ignore.ignores(name)) return spots;
  for (const matcher of step.matchers) {
    if (matcher.opensWithVariable && isHidden(name)) continue;
    const spot = matcher.match(name);
    if (spot !== null) spots.push(spot);
  }
  return spots;
}

/** Takes the stamp of a path at which a pattern ends, and goes on below it if a pattern does. */
function arrive(state: Crawl, path: string, spots: readonly Spot[], entry?: DiskEntry<string>): void {
  const stamp = spots.some(({ node }) => node.here.length > 0) ? take(state, path, spots) : undefined;
  if (stamp === undefined ? isSurelyNoDirectory(entry) : stamp?.kind !== 'directory') return;
  const further = spots.filter(({ node }) => node.named.size > 0 || node.varying.size > 0);
  if (further.length > 0) state.ahead.push({ path, spots: further });
}

function isSurelyNoDirectory(entry: DiskEntry<string> | undefined): boolean {
  return entry !== undefined && !entry.isDirectory() && !entry.isSymbolicLink();
}

function take(state: Crawl, path: string, spots: readonly Spot[]): Stamp | null {
  const stamp = stampOf(state, path);
  if (stamp === null) return null;
  const matches: Match[] = [];
  for (const { node, bindings } of spots) {
    for (const pattern of node.here) {
      if (stamp.kind === 'directory' || !state.options.patterns[pattern]!.directory)
        matches.push({ pattern, bindings });
    }
  }
  if (matches.length > 1) matches.sort((a, b) => a.pattern - b.pattern);
  if (matches.length > 0) state.found.push({ path, stamp, matches });
  return stamp;
}

function stampOf(state: Crawl, path: string): Stamp | null {
  try {
    return state.disk.stat(path);
  } catch (error) {
    report(state, path, error);
    return null;
  }
}

/** What is not there is no problem: a dep may be waited for, an out not yet made. */
function report(state: Crawl, path: string, error: unknown): void {
  const reason = whyUnreadable(error);
  if (reason !== null) state.problems.push({ path, reason });
}
