// Disk → observations → control plane: looks at what the patterns of one workflow match, and tells what is new.

import { answerOf, type Client } from '../host/client.ts';
import type { Disk, Stamp } from '../host/disk.ts';
import type { IgnoreRule } from '../host/ignore.ts';
import type { PathHasher } from '../host/path-hash.ts';
import { type Pattern, parsePattern } from '../schema/pattern.ts';
import { MAX_OBSERVATIONS, type Observation } from '../schema/wire.ts';
import { globFiles } from './glob-files.ts';
import type { Reported } from './reported.ts';
import { scanInSlices } from './scan.ts';

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
  readonly isSettled?: (path: string, stamp?: Stamp) => boolean;
}

/** As the control plane lists them. */
export interface LookedFor {
  readonly pattern: string;
  readonly glob: string | null;
}

export interface Report {
  /** Paths that are there. */
  readonly found: number;
  /** Observations that were sent. */
  readonly sent: number;
  readonly problems: readonly { readonly path: string; readonly reason: string }[];
}

export async function reportAll(patterns: readonly LookedFor[], context: ReportContext): Promise<Report> {
  const { root, ignore, hasher, reported, disk } = context;
  const places = distinct(patterns).map(({ pattern, glob }) => ({ pattern: absolute(pattern), glob }));
  const { found, problems } = await scanInSlices({
    patterns: places.map(({ pattern }) => pattern),
    root,
    ignore,
    disk,
  });
  const trouble = [...problems];
  const seen = new Map<string, Observation>();
  const held = new Set<string>();
  for (const { path, stamp, matches } of found) {
    const globs = matches.flatMap(({ pattern }) => places[pattern]!.glob ?? []);
    for (const glob of globs) {
      const globbed = globFiles(path, glob, context);
      trouble.push(...globbed.problems);
      for (const file of globbed.files) await look(file);
    }
    // The directory of a fan-out matters only by its files.
    if (globs.length < matches.length) await look(path, stamp);
  }
  const gone = reported
    .paths()
    .filter((path) => !seen.has(path) && !held.has(path) && !isBelow(path, trouble));
  const news = [...[...seen.values()].filter((each) => reported.isNews(each)), ...gone.map(asGone)];
  await send(news, context);
  return { found: seen.size, sent: news.length, problems: trouble };

  async function look(path: string, stamp?: Parameters<PathHasher['hashPath']>[1]): Promise<void> {
    if (context.isSettled?.(path, stamp) === false) {
      held.add(path);
      return;
    }
    const content = await hasher.hashPathInSlices(path, stamp);
    if (content.kind === 'missing') return;
    if (content.kind === 'unreadable') trouble.push({ path: content.path, reason: content.reason });
    else
      seen.set(path, {
        ...{ path, hash: content.hash, size: content.size },
        ...(content.kind === 'directory' ? { files: content.files } : {}),
      });
  }
}

/** In batches that fit into a body; what was taken is remembered, so that it is not said again. */
export async function send(
  news: readonly Observation[],
  { client, target, watcher, reported }: Sending,
): Promise<void> {
  for (const observations of batches(news)) {
    reported.open();
    await answerOf(client.api.observations.$post({ json: { target, watcher, observations } }));
    for (const each of observations) reported.took(each);
  }
}

type Sending = Pick<ReportContext, 'client' | 'target' | 'watcher' | 'reported'>;

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

function distinct(patterns: readonly LookedFor[]): readonly LookedFor[] {
  return [...new Map(patterns.map((each) => [`${each.pattern}\0${each.glob}`, each])).values()];
}

function absolute(text: string): Pattern {
  const parsed = parsePattern(text);
  if (!parsed.ok) throw new Error(`not a pattern after registering: ${text}`);
  return parsed.pattern;
}

/** What could not be looked into is not known to be gone. */
function isBelow(path: string, trouble: readonly { readonly path: string }[]): boolean {
  return trouble.some((each) => path === each.path || path.startsWith(`${each.path}/`));
}

function asGone(path: string): Observation {
  return { path, gone: true };
}
