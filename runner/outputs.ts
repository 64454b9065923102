// File outputs are made beside their place and renamed into it, so that nobody ever sees a half-written one.
//
// A rename is all: nothing is synced. Our promises are about processes that die; what a power cut takes away
// no longer matches its record and is made again.

import { createHash } from 'node:crypto';
import { existsSync, lstatSync, mkdirSync, realpathSync, renameSync, rmSync } from 'node:fs';
import { basename, dirname, join } from 'node:path';

export interface OutPlan {
  /** Absolute. */
  readonly path: string;
  /** `in-place`: directories, and files whose path the command has written out itself. */
  readonly made: 'beside' | 'in-place';
}

export interface PreparedOut extends OutPlan {
  /** What the command is told to write. */
  readonly writeTo: string;
  /** What `writeTo` is renamed to: `path`, or the file that a link there points to. */
  readonly place: string;
  /** Of a file that stands where an output is made in place: tells whether an attempt has touched it. */
  readonly before: string | null;
}

export type Placement =
  | { readonly kind: 'placed' }
  | { readonly kind: 'missing'; readonly paths: readonly string[] }
  /** The check said no, as when the lease is lost; nothing was renamed. */
  | { readonly kind: 'refused' }
  | { readonly kind: 'blocked'; readonly path: string; readonly reason: string };

/** Makes the parent directories and says where to write. */
export function prepareOutputs(plans: readonly OutPlan[], token: string): readonly PreparedOut[] {
  return plans.map((plan) => {
    mkdirSync(dirname(plan.path), { recursive: true });
    if (plan.made === 'in-place')
      return { ...plan, writeTo: plan.path, place: plan.path, before: stampOf(plan.path) };
    const place = throughLinks(plan.path);
    return { ...plan, place, writeTo: siblingOf(place, token), before: null };
  });
}

/** `check` is asked last, when everything is there and only the renames are left. */
export async function placeOutputs(
  outs: readonly PreparedOut[],
  check: () => Promise<boolean>,
): Promise<Placement> {
  const missing = outs.filter(({ writeTo }) => !existsSync(writeTo));
  if (missing.length > 0) return { kind: 'missing', paths: missing.map(({ path }) => path) };
  if (!(await check())) return { kind: 'refused' };
  for (const { made, writeTo, place, path } of outs) {
    const reason = made === 'beside' ? rename(writeTo, place) : null;
    if (reason !== null) return { kind: 'blocked', path, reason };
  }
  return { kind: 'placed' };
}

/**
 * After an attempt that did not succeed. A file that it wrote straight to its place is half of something, whatever
 * stood there before; a directory stays, for what else is in it nobody knows.
 */
export function discardOutputs(outs: readonly PreparedOut[]): void {
  for (const { made, writeTo, before } of outs) {
    if (made === 'beside') rmSync(writeTo, { recursive: true, force: true });
    else if (isFile(writeTo) && stampOf(writeTo) !== before) rmSync(writeTo, { force: true });
  }
}

function isFile(path: string): boolean {
  return lstatSync(path, { throwIfNoEntry: false })?.isFile() ?? false;
}

function stampOf(path: string): string | null {
  const stat = lstatSync(path, { throwIfNoEntry: false, bigint: true });
  return stat === undefined ? null : [stat.ino, stat.size, stat.mtimeNs, stat.ctimeNs].join(' ');
}

/** `.sluice-TOKEN.NAME` */
export function siblingOf(place: string, token: string): string {
  if (!/^[A-Za-z0-9_-]+$/.test(token)) throw new Error(`not usable in a file name: '${token}'`);
  const prefix = `.sluice-${token}.`;
  return join(dirname(place), prefix + fitted(basename(place), LONGEST_NAME_BYTES - prefix.length));
}

/** What common file systems take. */
const LONGEST_NAME_BYTES = 255;

/** Of a name that is too long the end is kept, because programs go by the extension. */
function fitted(name: string, bytes: number): string {
  if (Buffer.byteLength(name) <= bytes) return name;
  const digest = createHash('sha256').update(name).digest('hex').slice(0, 16);
  const end = Array.from(name);
  while (Buffer.byteLength(end.join('')) > bytes - digest.length) end.shift();
  return digest + end.join('');
}

function throughLinks(path: string): string {
  try {
    return lstatSync(path).isSymbolicLink() ? realpathSync(path) : path;
  } catch {
    return path;
  }
}

function rename(from: string, to: string): string | null {
  try {
    renameSync(from, to);
    return null;
  } catch (error) {
    return error instanceof Error ? error.message : String(error);
  }
}
