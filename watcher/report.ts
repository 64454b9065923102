// Disk → observations → control plane: looks at what the patterns of one workflow match, everywhere or only at paths
// that something happened to, and tells what is new.

import { dirname } from 'node:path';
import { answerOf, type Client } from '../host/client.ts';
import { type Disk, type Stamp, whyUnreadable } from '../host/disk.ts';
import type { IgnoreRule } from '../host/ignore.ts';
import type { PathHasher } from '../host/path-hash.ts';
import { type RootPair, toRegistered } from '../host/roots.ts';
import { runInSlices } from '../host/slices.ts';
import { MAX_OBSERVATIONS, type Observation, type WatcherFacts } from '../schema/wire.ts';
import { awayReason } from './away.ts';
import { globFiles } from './glob-files.ts';
import type { Reported } from './reported.ts';
import { crawl, type Found, type ScanProblem } from './scan.ts';
import { type Asked, type LookedFor, Sight } from './sight.ts';

export interface ReportContext {
  readonly client: Client;
  readonly target: string;
  readonly watcher: string;
  readonly root: string;
  readonly ignore: IgnoreRule;
  readonly hasher: PathHasher;
  readonly reported: Reported;
  readonly disk: Disk;
  /** Of a path that may still be written nothing is said, neither what it is nor that it is gone. */
  readonly isSettled?: (path: string, stamp: Stamp | null, found: Found | null) => boolean;
  /** Where the control plane has these files, if it calls the place by another name. */
  readonly roots?: RootPair;
  /** Told along with what is seen: how the places stand that are looked at. */
  readonly facts?: () => WatcherFacts;
  /** How many files were looked at so far, now and then. */
  readonly progress?: (found: number) => void;
}

export type { LookedFor } from './sight.ts';

export interface Report {
  /** Paths that are there. */
  readonly found: number;
  /** Observations that were sent. */
  readonly sent: number;
  readonly problems: readonly ScanProblem[];
}

const EVERYWHERE = '/';
const PROGRESS_EVERY = 50_000;

export function reportAll(patterns: readonly LookedFor[], context: ReportContext): Promise<Report> {
  return reportAt([EVERYWHERE], new Sight(patterns, context), context);
}

/** Only these absolute paths, and what lies below them, may differ from the last look. */
export async function reportAt(
  paths: readonly string[],
  sight: Sight,
  context: ReportContext,
): Promise<Report> {
  const look = new Look(sight, context);
  context.reported.beginLook();
  if (paths.includes(EVERYWHERE)) look.atRoot();
  for (const path of paths) for (const asked of sight.at(path)) await look.at(asked);
  for (const path of paths) await look.findGone(path);
  if (paths.includes(EVERYWHERE)) context.reported.keepDevices(look.deviceOf);
  await look.send();
  return look;
}

/** One look: what it finds is told while it goes on, so that only a batch is held at a time. */
class Look implements Report {
  found = 0;
  sent = 0;
  readonly problems: ScanProblem[] = [];
  readonly #sight: Sight;
  readonly #context: ReportContext;
  readonly #looked = new Set<string>();
  readonly #troubled = new Set<string>();
  #news: Observation[] = [];

  constructor(sight: Sight, context: ReportContext) {
    this.#sight = sight;
    this.#context = context;
  }

  /** A root that is not there is told, and nothing below it counts as gone. */
  atRoot(): void {
    const { root, disk } = this.#context;
    const reason = awayReason(root, { root, disk, device: '' });
    if (reason !== null) this.problems.push({ path: root, reason });
  }

  async at(asked: Asked): Promise<void> {
    if (asked.kind === 'glob') {
      await this.#glob(asked.directory, asked.glob, asked.below);
      return;
    }
    // A directory that many hints lie in is hashed once.
    const key = `${asked.path}\0${asked.spots.some(({ node }) => node.named.size + node.varying.size > 0)}`;
    if (this.#looked.has(key)) return;
    this.#looked.add(key);
    const into = { found: [] as Found[], problems: this.problems };
    const { ignore, disk } = this.#context;
    const crawling = crawl({ patterns: this.#sight.patterns, ignore, disk }, asked, into);
    await runInSlices(crawling, () => this.#take(into.found.splice(0)));
  }

  /** What was there and was not come upon is asked for once more: it may have come since its directory was listed. */
  async findGone(under: string): Promise<void> {
    const { reported, isSettled } = this.#context;
    const away = new Map<string, string | null>();
    for (const path of reported.unseen(under)) {
      if (this.#isBelowTrouble(path)) continue;
      const directory = dirname(path);
      if (!away.has(directory)) away.set(directory, this.#awayReason(directory));
      const reason = away.get(directory)!;
      if (reason !== null) {
        this.problems.push({ path: directory, reason });
        continue;
      }
      if (under === EVERYWHERE) for (const asked of this.#sight.at(path)) await this.#again(asked, path);
      if (!reported.isSeen(path) && isSettled?.(path, null, null) !== false)
        await this.#tell({ path, gone: true });
    }
  }

  readonly deviceOf = (directory: string): string | null => {
    try {
      return this.#context.disk.place(directory)?.dev.toString() ?? null;
    } catch {
      return null;
    }
  };

  async send(): Promise<void> {
    const news = this.#news;
    this.#news = [];
    await send(news, this.#context);
  }

  async #again(asked: Asked, path: string): Promise<void> {
    if (asked.kind === 'glob' || asked.path === path) await this.at(asked);
  }

  async #take(found: readonly Found[]): Promise<void> {
    for (const each of found) {
      const globs = each.matches.flatMap(({ pattern }) => this.#sight.places[pattern]!.glob ?? []);
      for (const glob of globs) await this.#glob(each.path, glob, '');
      // The directory of a fan-out matters only by its files.
      if (globs.length < each.matches.length) await this.#see(each.path, each.stamp, each);
    }
  }

  async #glob(directory: string, glob: string, below: string): Promise<void> {
    const { files, problems } = globFiles(directory, glob, { ...this.#context, below });
    this.problems.push(...problems);
    for (const file of files) await this.#see(file, undefined, null);
  }

  async #see(path: string, known: Stamp | undefined, found: Found | null): Promise<void> {
    const { reported, hasher, isSettled } = this.#context;
    const stamp = known ?? this.#stampOf(path);
    if (isSettled?.(path, stamp, found) === false) {
      reported.saw(path);
      return;
    }
    if (stamp === null) return;
    const content = await hasher.hashPathInSlices(path, stamp);
    if (content.kind === 'missing') return;
    if (content.kind === 'unreadable') {
      this.problems.push({ path: content.path, reason: content.reason });
      return;
    }
    reported.saw(path);
    this.found += 1;
    if (this.found % PROGRESS_EVERY === 0) this.#context.progress?.(this.found);
    await this.#tell({
      ...{ path, hash: content.hash, size: content.size },
      ...(content.kind === 'directory' ? { files: content.files } : {}),
    });
  }

  async #tell(observation: Observation): Promise<void> {
    if (!this.#context.reported.isNews(observation)) return;
    this.sent += 1;
    this.#news.push(observation);
    if (this.#news.length >= MAX_OBSERVATIONS) await this.send();
  }

  #stampOf(path: string): Stamp | null {
    try {
      return this.#context.disk.stat(path);
    } catch (error) {
      const reason = whyUnreadable(error);
      if (reason !== null) this.problems.push({ path, reason });
      return null;
    }
  }

  #awayReason(directory: string): string | null {
    const { reported, root, disk } = this.#context;
    return awayReason(directory, { root, disk, device: reported.deviceOf(directory) });
  }

  /** What could not be looked into is not known to be gone. */
  #isBelowTrouble(path: string): boolean {
    for (const each of this.problems.slice(this.#troubled.size)) this.#troubled.add(each.path);
    for (let at = path; this.#troubled.size > 0; at = dirname(at)) {
      if (this.#troubled.has(at)) return true;
      if (at === '/') return false;
    }
    return false;
  }
}

/** In batches that fit into a body; what was taken is remembered, so that it is not said again. */
export async function send(
  news: readonly Observation[],
  { client, target, watcher, reported, roots, facts }: Sending,
): Promise<void> {
  for (const batch of batches(news)) {
    reported.doubt(batch);
    const observations =
      roots === undefined ? batch : batch.map((each) => ({ ...each, path: toRegistered(each.path, roots) }));
    const told = facts === undefined ? {} : { facts: facts() };
    await answerOf(client.api.observations.$post({ json: { target, watcher, ...told, observations } }));
    for (const each of batch) reported.took(each);
  }
}

type Sending = Pick<ReportContext, 'client' | 'target' | 'watcher' | 'reported' | 'roots' | 'facts'>;

const BODY_BYTES = 800_000;

function* batches(news: readonly Observation[]): Generator<Observation[]> {
  let batch: Observation[] = [];
  let bytes = 0;
  for (const each of news) {
    const size = Buffer.byteLength(JSON.stringify(each)) + 1;
    if (batch.length === MAX_OBSERVATIONS || bytes + size > BODY_BYTES) {
      yield batch;
      [batch, bytes] = [[], 0];
    }
    batch.push(each);
    bytes += size;
  }
  if (batch.length > 0) yield batch;
}
