// From a claim to what is posted about it: look, decide, make, look again.
//
//   claimed ──▶ look ──▶ a record vouches for it ───────────────────▶ verified
//                 │  ──▶ an input is gone ──────────────────────────▶ released, and what was seen is told
//                 └────▶ make ──▶ check and hash the outputs ──▶ made ──▶ or failed

import { rmSync, statfsSync } from 'node:fs';
import type { PathHasher } from '../host/path-hash.ts';
import { type HashBytes, hashValue } from '../schema/blake3.ts';
import { fanOutOutput } from '../schema/discovery/fan-out.ts';
import type { Key, PathHash, Preimage } from '../schema/key.ts';
import { explain, type Reason } from '../schema/reason.ts';
import { judge, type StateRecord } from '../schema/verdict.ts';
import type { Claimed, CompleteItem, FailItem, Observation } from '../schema/wire.ts';
import type { Blake3, EntityId, Json, StageId } from '../schema/words.ts';
import { lookAtState, type StateLook } from './look-at-state.ts';
import { type Made, type MakeContext, makeStates } from './make-state.ts';
import type { ManifestLine, Manifests } from './manifest.ts';
import { type FilesContext, type StateFiles, stateFiles } from './state-files.ts';

export interface PerformContext extends Omit<MakeContext, 'isMine' | 'signal'>, FilesContext {
  readonly hash: HashBytes;
  readonly hasher: PathHasher;
  readonly signal: AbortSignal;
  readonly isMine: (tokens: readonly number[]) => Promise<boolean>;
  /** Whether there was a lock file when the run began: without one everything is a first run. */
  readonly hasLockFile: boolean;
  readonly recipe: (hash: string) => Promise<RecordedRecipe | null>;
  /** What the directories of fan-outs say of themselves. */
  readonly manifests: Manifests;
  /** Which stage made the file at an absolute path anew in this run. */
  readonly remadeBy: (path: string) => StageId | undefined;
  /** A command is about to be started. */
  readonly starting: (item: Claimed, reasons: readonly string[]) => void;
}

/** The part of a record's preimage that the entities of a stage share. */
export interface RecordedRecipe {
  readonly cmd_hash: Blake3;
  readonly code: readonly PathHash[];
  readonly params: Readonly<Record<string, Json>>;
}

export interface Performed {
  readonly item: Claimed;
  readonly files: StateFiles;
  readonly post:
    | { readonly kind: 'complete'; readonly item: Partial<CompleteItem> & { readonly token: number } }
    | { readonly kind: 'fail'; readonly item: FailItem }
    | { readonly kind: 'release'; readonly because: string };
  /** What was found to be other than the control plane thinks. */
  readonly observations: readonly Observation[];
  readonly reasons: readonly string[];
  readonly warnings: readonly string[];
  readonly key: { readonly key: Key; readonly preimage: Preimage } | null;
  readonly outs: readonly HashedOut[];
  readonly seconds: number;
}

export interface HashedOut {
  readonly name: string;
  readonly path: string;
  readonly hash: Blake3;
  readonly size: number;
  readonly files?: number;
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
      readonly look: Extract<StateLook, { kind: 'seen' }>;
      readonly reasons: readonly string[];
      readonly records: readonly StateRecord[];
    };

async function begin(item: Claimed, files: StateFiles, context: PerformContext): Promise<Begun> {
  const { stage } = files;
  if (item.kind === 'clean') return done(cleaned({ item, files }));
  const noRoom = diskProblem(stage, context.root);
  if (noRoom !== null) return done(failedPost({ item, files }, noRoom));
  const look = await lookAtState(files, context);
  if (look.kind === 'unreadable') return done(failedPost({ item, files }, look.reason));
  const asked = item.reasons as readonly Reason[];
  const forced = asked.some(({ reason }) => reason === 'forced' || reason === 'invalidated');
  if (look.kind === 'missing' && !(stage.frozen && !forced)) return done(gone({ item, files }, look.paths));
  const seen = look.kind === 'seen' ? look : null;
  const known = seen === null ? [] : await recordsOf(item, files, { look: seen, context });
  const records = known.length > 0 ? known : recordsInManifest(files, context);
  const outs = await hashOuts(files, context);
  const verdict = judge({
    current: seen === null ? null : { key: seen.key, preimage: seen.preimage },
    records,
    hasLockFile: context.hasLockFile,
    outs: files.outs.map(({ name, path }) => ({
      path: name,
      hash: outs.find((out) => out.path === path)?.hash ?? null,
    })),
    editable: false,
    frozen: stage.frozen,
    due: asked.some(({ reason }) => reason === 'always-due' || reason === 'after-ran'),
    forced,
    invalidatedBy: null,
    missing: [],
    upstream: upstreamOf(files, context),
    failure: null,
    nowMs: 0,
  });
  if (verdict.verdict === 'stale' && seen !== null) {
    const reasons = whyOf(verdict.reasons, asked).map(explain);
    return { kind: 'make', item, files, look: seen, reasons, records };
  }
  if (verdict.verdict === 'waiting')
    return done(
      failedPost(
        { item, files },
        `frozen, but ${files.outs.map(({ name }) => name).join(', ')} is not there; --force makes it`,
      ),
    );
  return done(
    completePost({
      item,
      files,
      look: seen,
      outs,
      outcome: 'verified',
      reasons: [],
      warnings: [],
      seconds: 0,
    }),
  );
}

/** What somebody asked for stands before what the files say. */
function whyOf(own: readonly Reason[], asked: readonly Reason[]): readonly Reason[] {
  const told = asked.filter(({ reason }) => ['forced', 'invalidated', 'after-ran'].includes(reason));
  return told.length > 0 ? told : own;
}

interface Seen {
  readonly look: Extract<StateLook, { kind: 'seen' }>;
  readonly context: PerformContext;
}

async function recordsOf(item: Claimed, files: StateFiles, { look, context }: Seen): Promise<StateRecord[]> {
  const nameOf = new Map(files.outs.map(({ path, name }) => [path, name]));
  return Promise.all(
    item.records.map(async (record, i): Promise<StateRecord> => {
      const recipe = i > 0 || record.recipe === null ? null : await context.recipe(record.recipe);
      const outs = (record.outs as PathHash[]).map(({ path, hash }) => ({
        path: nameOf.get(path) ?? path,
        hash,
      }));
      const deps = record.deps as PathHash[];
      const preimage = recipe === null ? null : preimageOf(recipe, deps, look);
      return { cacheKey: record.cache_key as Blake3, preimage, outs, skipped: record.skipped };
    }),
  );
}

/** For when the database is gone: the directory still tells what was made under which key. */
function recordsInManifest(files: StateFiles, { manifests }: PerformContext): StateRecord[] {
  const directory = fanOutDirectory(files);
  const line = directory === null ? undefined : manifests.find(directory, files.inputs[0]!.name);
  if (line === undefined || line.output !== files.outs[0]!.name) return [];
  const outs = [{ path: line.output, hash: line.output_hash }];
  return [{ cacheKey: line.cache_key, preimage: null, outs, skipped: false }];
}

function noteInManifest(
  files: StateFiles,
  { key, consumed }: Seen['look'],
  outs: readonly HashedOut[],
  { manifests }: PerformContext,
): void {
  const directory = fanOutDirectory(files);
  const [input] = files.inputs;
  const input_hash = consumed.find(({ path }) => path === input?.paths[0])?.hash;
  if (directory === null || input_hash === undefined) return;
  const line: ManifestLine = {
    ...{ input: input!.name, output: outs[0]!.name, input_hash, output_hash: outs[0]!.hash },
    ...{ cache_key: key.cacheKey, completed_at: new Date().toISOString() },
  };
  manifests.add(directory, line);
}

/** Null for what is no fan-out, or has outs that a line would not speak of. */
function fanOutDirectory({ stage, entity, outs }: StateFiles): string | null {
  if (stage.fanOut === null || outs.length !== 1 || outs[0]!.remote !== null) return null;
  return outs[0]!.path.slice(0, -fanOutOutput(stage, entity).length);
}

/** Only the command's hash is kept, not its text: where that is equal, the text was the present one. */
export function preimageOf(
  recipe: RecordedRecipe,
  deps: readonly PathHash[],
  { key, preimage }: Seen['look'],
): Preimage {
  const sameCode = JSON.stringify(recipe.code) === JSON.stringify(preimage.code);
  const sameAction = recipe.cmd_hash === key.cmdHash || !sameCode;
  return {
    action: sameAction ? preimage.action : { kind: 'none' },
    code: recipe.code,
    params: recipe.params,
    deps,
  };
}

function upstreamOf({ inputs }: StateFiles, { remadeBy }: PerformContext) {
  return inputs.flatMap(({ name, paths }) => {
    const stage = paths.map(remadeBy).find((each) => each !== undefined);
    return stage === undefined
      ? []
      : [{ stage, entity: '' as EntityId, status: 'settled' as const, reran: [name] }];
  });
}

async function make(
  begun: readonly Extract<Begun, { kind: 'make' }>[],
  context: PerformContext,
): Promise<Made> {
  const tokens = begun.map(({ item }) => item.token);
  for (const { item, reasons } of begun) context.starting(item, reasons);
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
  const { item, files, look, reasons, records } = begun;
  const about = { item, files, look, reasons };
  switch (made.kind) {
    case 'cancelled':
      return released({ item, files }, 'the run was stopped while it ran', []);
    case 'failed':
      return failedPost(about, made.error, made);
    case 'skipped':
      return completePost({ ...about, outs: [], outcome: 'skipped', warnings: [], seconds: 0 });
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
      noteInManifest(files, look, outs, context);
      const observations = await changedMeanwhile(look, context);
      const { seconds } = made;
      return { ...completePost({ ...about, outs, outcome: 'made', warnings, seconds }), observations };
    }
  }
}

async function hashOuts(files: StateFiles, { hasher }: PerformContext): Promise<HashedOut[]> {
  const hashed: HashedOut[] = [];
  for (const { name, path, remote } of files.outs) {
    if (remote !== null) continue;
    const content = await hasher.hashPathInSlices(path);
    if (content.kind === 'file') hashed.push({ name, path, hash: content.hash, size: content.size });
    if (content.kind === 'directory')
      hashed.push({ name, path, hash: content.hash, size: content.size, files: content.files });
  }
  return hashed;
}

/** `validation` of a pipeline; a declared output that is not there was found out when it was to be put in place. */
function checkOutputs(
  { stage, outs }: StateFiles,
  hashed: readonly HashedOut[],
  { workflow }: PerformContext,
): string | null {
  const here = outs.filter(({ remote }) => remote === null);
  const unhashed = here.find(({ path }) => !hashed.some((out) => out.path === path));
  if (unhashed !== undefined) return `did not make ${unhashed.name}, or made something that cannot be read`;
  if (workflow.policy.validation === 'none') return null;
  const { minSize, minFiles } = stage.validation;
  for (const { name, size, files } of hashed) {
    if (minSize !== null && size < minSize)
      return `${name} has ${size} bytes, fewer than validation.minSize ${minSize}`;
    if (minFiles !== null && (files ?? 1) < minFiles)
      return `${name} has ${files ?? 1} files, fewer than validation.minFiles ${minFiles}`;
  }
  return null;
}

function differing(
  { stage }: StateFiles,
  outs: readonly HashedOut[],
  before: StateRecord | undefined,
): string[] {
  if (before === undefined || !stage.deterministic) return [];
  return outs.flatMap(({ name, hash }) => {
    const old = before.outs.find(({ path }) => path === name)?.hash;
    if (old === undefined || old === hash) return [];
    return [
      `stage '${stage.id}' is marked deterministic but made other bytes of ${name} from the same inputs: ` +
        `${old.slice(0, 15)} → ${hash.slice(0, 15)}; set deterministic: false, or mend the command`,
    ];
  });
}

/** An input that is not what it was: told before the result, which then arrives stale. */
async function changedMeanwhile(
  { consumed }: Seen['look'],
  { hasher }: PerformContext,
): Promise<Observation[]> {
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

interface About {
  readonly item: Claimed;
  readonly files: StateFiles;
  readonly look?: Seen['look'] | null;
  readonly reasons?: readonly string[];
}

function base({ item, files, look, reasons }: About) {
  const key = look == null ? null : { key: look.key, preimage: look.preimage };
  return { item, files, key, reasons: reasons ?? [], warnings: [], outs: [], seconds: 0, observations: [] };
}

/** What a person reads of many inputs is a few; what the control plane compares is their number and root hash. */
const MOST_CONSUMED = 500;

interface Completed extends About {
  readonly outs: readonly HashedOut[];
  readonly outcome: 'made' | 'verified' | 'skipped';
  readonly warnings: readonly string[];
  readonly seconds: number;
}

function completePost(completed: Completed): Performed {
  const { item, look, outs, outcome, reasons = [], warnings, seconds } = completed;
  const consumed = look == null || look.consumed.length > MOST_CONSUMED ? [] : [...look.consumed];
  return {
    ...base(completed),
    outs,
    warnings,
    seconds,
    post: {
      kind: 'complete',
      item: {
        token: item.token,
        outcome,
        consumed,
        outs: outs.map(({ path, hash, size, files }) => ({
          path,
          hash,
          size,
          ...(files === undefined ? {} : { files }),
        })),
        reasons: [...reasons],
        seconds,
        ...(look == null ? {} : { cache_key: look.key.cacheKey, deps: [...look.preimage.deps] }),
        ...(outs.length === 1 ? { content_hash: outs[0]!.hash } : {}),
      },
    },
  };
}

export function recipeOf(
  hash: HashBytes,
  key: Key,
  preimage: Preimage,
): { readonly hash: Blake3; readonly body: RecordedRecipe } {
  const body: RecordedRecipe = { cmd_hash: key.cmdHash, code: preimage.code, params: preimage.params };
  return { hash: hashValue(hash, 'recipe', body as unknown as Json), body };
}

function failedPost(
  about: About,
  error: string,
  ended: { readonly outcome: FailItem['outcome']; readonly logTail: string; readonly seconds: number } = {
    outcome: { kind: 'error' },
    logTail: '',
    seconds: 0,
  },
): Performed {
  const { item, look, reasons = [] } = about;
  return {
    ...base(about),
    seconds: ended.seconds,
    post: {
      kind: 'fail',
      item: {
        token: item.token,
        outcome: ended.outcome,
        error: error.slice(0, 10_000),
        log_tail: ended.logTail,
        seconds: ended.seconds,
        reasons: [...reasons],
        ...(look == null ? {} : { cache_key: look.key.cacheKey }),
      },
    },
  };
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
    ...base(about),
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

function released(about: About, because: string, observations: readonly Observation[]): Performed {
  return { ...base(about), observations, post: { kind: 'release', because } };
}

function done(performed: Performed): Begun {
  return { kind: 'done', performed };
}
