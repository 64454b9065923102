// Finds and replaces single entities in the bytes of a lock file, without reading the rest: at 100,000 entities that is
// 65 MB. It knows the layout that our own writer gives the file; for anything else it answers null.

import { compareCodePoints } from '../../schema/canonical.ts';
import { entityLine, type FormatOptions, lockHead, stageHead } from '../../schema/lock-file/format.ts';
import type { LockFile, Recipe, StateLock } from '../../schema/lock-file/shape.ts';

/** States of one stage, all made under one recipe. */
export interface StagePatch {
  readonly recipe: Recipe;
  readonly states: ReadonlyMap<string, StateLock>;
}

const INDENT = '      ';
const NEWLINE = 10;

export interface LockPatch {
  readonly head: Omit<LockFile, 'stages'>;
  readonly stages: ReadonlyMap<string, StagePatch>;
  readonly options: FormatOptions;
}

/** The new bytes in parts, not copied; only the old ones if nothing is other than it was. */
export function patchLock(bytes: Buffer, { head, stages, options }: LockPatch): readonly Buffer[] | null {
  const newHead = Buffer.from(lockHead(head, options));
  const oldEnd = bytes.indexOf('\nstages:') + 1;
  if (oldEnd === 0 || !isSameHead(bytes.toString('utf8', 0, oldEnd), newHead.toString())) return null;
  const edits: Edit[] = [];
  for (const [name, patch] of stages) {
    const block = blockOf(bytes, stageHead(name, patch.recipe));
    if (block === null) return null;
    for (const id of [...patch.states.keys()].sort(compareCodePoints)) {
      const place = placeOf(bytes, block, id);
      const line = Buffer.from(entityLine(id, patch.states.get(id)!, options));
      if (place === null || line[INDENT.length] !== QUOTE || isAlone(place, block, id)) return null;
      if (!bytes.subarray(place.start, place.end).equals(line)) edits.push({ ...place, line });
    }
  }
  if (edits.length === 0) return [bytes];
  return applied(bytes, [{ start: 0, end: oldEnd, line: newHead }, ...edits]);
}

/** The only entity of a stage is laid out in another way, unless it was made under another recipe. */
function isAlone({ start, end }: Range, block: Range, id: string): boolean {
  return id === '' && start === block.start && end === block.end;
}

/** What the file says of one entity; undefined if nothing, null if it would have to be read as a whole to know. */
export function entityIn(
  bytes: Buffer,
  stage: string,
  id: string,
): { readonly cache_key?: string } | undefined | null {
  const block = known(bytes, `\n  ${JSON.stringify(stage)}:\n`, () => {
    const start = bytes.indexOf(`\n  ${JSON.stringify(stage)}:\n`);
    if (start < 0) return undefined;
    const entities = bytes.indexOf(ENTITIES, start);
    const end = endOfBlock(bytes, start + 1);
    return entities < 0 || entities > end ? null : { start: entities + ENTITIES.length, end };
  });
  if (block === null || block === undefined) return block;
  const place = placeOf(bytes, block, id);
  if (place === null) return null;
  if (place.start === place.end) return undefined;
  const line = bytes.toString('utf8', place.start, place.end);
  return JSON.parse(line.slice(line.indexOf(': {') + 2)) as { cache_key?: string };
}

/** When and by which version it was written is no news. */
function isSameHead(before: string, after: string): boolean {
  const said = (text: string) => text.replace(/^(generated_at|generator): .*$/gm, '$1');
  return said(before) === said(after);
}

interface Range {
  readonly start: number;
  readonly end: number;
}

interface Edit extends Range {
  readonly line: Buffer;
}

function blockOf(bytes: Buffer, head: string): Range | null {
  const block = known(bytes, head, () => {
    const at = bytes.indexOf(head);
    if (at < 0) return null;
    const start = at + Buffer.byteLength(head);
    return { start, end: endOfBlock(bytes, start) };
  });
  return block ?? null;
}

const ENTITIES = '\n    entities:\n';

/** Of each file's stages, for finding where one ends means going through it. */
const blocks = new WeakMap<Buffer, Map<string, Range | null | undefined>>();

function known(bytes: Buffer, key: string, find: () => Range | null | undefined): Range | null | undefined {
  const own = blocks.get(bytes) ?? new Map();
  blocks.set(bytes, own);
  if (!own.has(key)) own.set(key, find());
  return own.get(key);
}

/** Blocks are told apart by an empty line, and no entity has one. */
function endOfBlock(bytes: Buffer, from: number): number {
  const empty = bytes.indexOf('\n\n', from);
  return empty < 0 ? bytes.length : empty + 1;
}

const QUOTE = 34;

/** Where an entity's line is, or where it would stand: they are sorted. */
function placeOf(bytes: Buffer, block: Range, id: string): Range | null {
  let { start, end } = block;
  while (start < end) {
    const middle = start + Math.floor((end - start) / 2);
    const line = Math.max(start, bytes.lastIndexOf(NEWLINE, middle - 1) + 1);
    const next = bytes.indexOf(NEWLINE, line) + 1;
    const key = keyAt(bytes, line, next);
    if (key === null) return null;
    const order = compareCodePoints(id, key);
    if (order === 0) return { start: line, end: next };
    if (order < 0) end = line;
    else start = next;
  }
  return { start, end: start };
}

/** Null where it is not written on one line. */
function keyAt(bytes: Buffer, line: number, next: number): string | null {
  const text = bytes.toString('utf8', line, Math.min(next, line + LONGEST_KEY));
  const key = /^ {6}("(?:[^"\\]|\\.)*"): \{/.exec(text)?.[1];
  return key === undefined ? null : (JSON.parse(key) as string);
}

/** Beyond a thousand characters a key is written on a line of its own, and a character takes four bytes at most. */
const LONGEST_KEY = 8_192;

function applied(bytes: Buffer, edits: readonly Edit[]): readonly Buffer[] {
  const parts: Buffer[] = [];
  let at = 0;
  // What is new stands before what it was found to stand before, and by its id among others that are new.
  const inOrder = [...edits].sort((a, b) => a.start - b.start || a.end - b.end);
  for (const { start, end, line } of inOrder) {
    parts.push(bytes.subarray(at, start), line);
    at = end;
  }
  return [...parts, bytes.subarray(at)];
}
