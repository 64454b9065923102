// From a claim to what is posted about it: look, decide, make, look again.
//
//   claimed ──▶ look ──▶ a record vouches for it ───────────────────▶ verified
//                 │  ──▶ an input is gone ──────────────────────────▶ released, and what was seen is told
//                 └────▶ make ──▶ check and hash the outputs ──▶ made ──▶ or failed

import { existsSync, rmSync, statfsSync } from 'node:fs';
import { stateName } from '../schema/reason.ts';
import type { Claimed, Observation } from '../schema/wire.ts';
import { type EntityId, unreachable } from '../schema/words.ts';
import { checkOutputs, differing, hashOuts } from './hash-outs.ts';
import { type JudgeContext, type Judged, judgeClaim } from './judge-claim.ts';
import type { SeenState } from './look-at-state.ts';
import { type Made, type MakeContext, makeStates } from './make-state.ts';
import type { Manifests } from './manifest.ts';
import { noteInManifest } from './manifest-notes.ts';
import {
  type About,
  completePost,
  failedPost,
  type Performed,
  released,
  withoutResult,
} from './performed.ts';
import { type FilesContext, type StateFiles, stateFiles } from './state-files.ts';

export interface PerformContext extends Omit<MakeContext, 'isMine'>, FilesContext, JudgeContext {
  readonly manifests: Manifests;
  readonly isMine: (tokens: readonly number[]) => Promise<boolean>;
  /** A command is about to be started. */
  readonly starting: (item: Claimed, reasons: readonly string[]) => void;
}

/** All of one stage; several only if it is chunked, and then those that are stale are made by one command. */
export async function performWork(
  items: readonly Claimed[],
  context: PerformContext,
): Promise<readonly Performed[]> {
  const { workflow } = context;
  const stage = workflow.stages.find(({ id }) => id === items[0]!.stage)!;
  const begun = await Promise.all(
    items.map(async (item) => begin(item, stateFiles(stage, item.entity as EntityId, context), context)),
  );
  const toMake = begun.filter((each) => each.kind === 'make');
  const made = toMake.length === 0 ? null : await make(toMake, context);
  return Promise.all(
    begun.map((each) => (each.kind === 'done' ? each.performed : conclude(each, made!, context))),
  );
}

type Begun =
  | { readonly kind: 'done'; readonly performed: Performed }
  | {
      readonly kind: 'make';
      readonly item: Claimed;
      readonly files: StateFiles;
      readonly judged: Extract<Judged, { kind: 'stale' }>;
    };

async function begin(item: Claimed, files: StateFiles, context: PerformContext): Promise<Begun> {
  const about = { item, files };
  if (item.kind === 'clean') return done(cleaned(about));
  const noRoom = diskProblem(files.stage, context.root);
  if (noRoom !== null) return done(failedPost(about, noRoom));
  const judged = await judgeClaim(item, files, context);
  switch (judged.kind) {
    case 'stale':
      return { kind: 'make', item, files, judged };
    case 'missing':
      return done(gone(about, judged.paths));
    case 'unusable':
      return done(failedPost(about, judged.reason));
    case 'vouched': {
      const { look, outs, outcome } = judged;
      const nothing = { reasons: [], warnings: [], seconds: 0 };
      return done(completePost({ ...about, look, outs, outcome, ...nothing }));
    }
    default:
      return unreachable(judged);
  }
}

async function make(
  begun: readonly Extract<Begun, { kind: 'make' }>[],
  context: PerformContext,
): Promise<Made> {
  const tokens = begun.map(({ item }) => item.token);
  for (const { item, judged } of begun) context.starting(item, judged.reasons);
  return makeStates(
    begun.map(({ files }) => files),
    tokens[0]!,
    { ...context, isMine: () => context.isMine(tokens) },
  );
}

async function conclude(
  begun: Extract<Begun, { kind: 'make' }>,
  made: Made,
  context: PerformContext,
): Promise<Performed> {
  const { item, files, judged } = begun;
  const { look, reasons, records } = judged;
  const about = { item, files, look, reasons };
  switch (made.kind) {
    case 'cancelled':
      return released({ item, files }, 'the run was stopped while it ran', []);
    case 'disk-full':
      return withoutRoom(about, made);
    case 'failed':
      return failedPost(about, made.error, made);
    case 'skipped':
      return skipped(about, made.because);
    case 'made': {
      const outs = await hashOuts(files, context);
      const wrong = checkOutputs(files, outs, context);
      if (wrong !== null)
        return failedPost(about, wrong, { ...made, outcome: { kind: 'exit', code: 0 }, logTail: '' });
      const warnings = differing(
        files,
        outs,
        records.find(({ cacheKey }) => cacheKey === look.key.cacheKey),
      );
      noteInManifest(files, look, outs, context.manifests);
      const observations = await changedMeanwhile(look, context);
      const { seconds } = made;
      return { ...completePost({ ...about, outs, outcome: 'made', warnings, seconds }), observations };
    }
  }
}

/** Given back and not failed: with some space freed the same attempt goes well. */
function withoutRoom(about: About, { directory, said }: Extract<Made, { kind: 'disk-full' }>): Performed {
  const noRoom = `the disk that holds ${directory} is full (${said})`;
  return { ...released(about, noRoom, []), noRoom };
}

/** Under this key there is nothing to make; what was made under another is not ours to remove unasked. */
function skipped(about: About, because: string): Performed {
  const { stage, entity, outs } = about.files;
  const left = outs.filter(({ path, remote }) => remote === null && existsSync(path)).map(({ name }) => name);
  const warnings = left.map((name) => `${stateName(stage.id, entity)} is skipped now; ${name} is of before`);
  const post = completePost({ ...about, outs: [], outcome: 'skipped', warnings, seconds: 0 });
  return { ...post, skippedBecause: because };
}

/** An input that is not what it was: told before the result, which then arrives stale. */
async function changedMeanwhile({ consumed }: SeenState, { hasher }: PerformContext): Promise<Observation[]> {
  const changed: Observation[] = [];
  for (const { path, hash } of consumed) {
    const now = await hasher.hashPathInSlices(path);
    if (now.kind === 'missing') changed.push({ path, gone: true });
    else if (now.kind !== 'unreadable' && now.hash !== hash)
      changed.push({
        path,
        hash: now.hash,
        size: now.size,
        ...(now.kind === 'directory' ? { files: now.files } : {}),
      });
  }
  return changed;
}

function gone(about: About, paths: readonly string[]): Performed {
  const absolute = paths.filter((path) => path.startsWith('/'));
  return released(
    about,
    `missing ${paths.join(', ')}`,
    absolute.map((path) => ({ path, gone: true })),
  );
}

/** Its source is gone, and the workflow asks for such outputs to be removed. */
function cleaned(about: About): Performed {
  for (const { path, remote } of about.files.outs)
    if (remote === null) rmSync(path, { recursive: true, force: true });
  return {
    ...withoutResult(about),
    post: { kind: 'complete', item: { token: about.item.token, outcome: 'cleaned' } },
  };
}

function diskProblem({ resources }: StateFiles['stage'], root: string): string | null {
  if (resources.diskBytes === 0) return null;
  const { bavail, bsize } = statfsSync(root);
  const free = bavail * bsize;
  if (free >= resources.diskBytes) return null;
  return `needs ${gigabytes(resources.diskBytes)} of disk, and only ${gigabytes(free)} are free`;
}

function gigabytes(bytes: number): string {
  return `${(bytes / 1e9).toFixed(1)} GB`;
}

function done(performed: Performed): Begun {
  return { kind: 'done', performed };
}
