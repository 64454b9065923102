// What YAML allows and a workflow does not: checked on the parsed nodes, before they become values.

import {
  type Alias,
  type Document,
  isAlias,
  isMap,
  isScalar,
  isSeq,
  type Node,
  type Pair,
  type Scalar,
  type YAMLMap,
  type YAMLSeq,
} from 'yaml';
import { type Diagnostic, type Span, shown } from './diagnostic.ts';

/** A key that stands again is told and left out, so that the rest can be read. */
export function checkNodes(document: Document.Parsed, problems: Diagnostic[]): void {
  checkNode(document.contents, [], { problems, aliases: new AliasLevels() });
}

interface Checking {
  readonly problems: Diagnostic[];
  readonly aliases: AliasLevels;
}

/** Our own walk: the library's `visit` takes a quarter of the time of parsing. False ends it. */
function checkNode(node: unknown, around: readonly Collection[], checking: Checking): boolean {
  const { problems, aliases } = checking;
  if (isScalar(node)) {
    checkTag(node as Scalar.Parsed, problems);
    checkScalar(node as Scalar.Parsed, problems);
  } else if (isMap(node)) {
    checkTag(node as YAMLMap.Parsed, problems);
    node.items = checkKeys(node.items as Pair<Node, Node>[], problems);
    const inside = [...around, node as Collection];
    return node.items.every(({ key, value }) =>
      [key, value].every((each) => checkNode(each, inside, checking)),
    );
  } else if (isSeq(node)) {
    checkTag(node as YAMLSeq.Parsed, problems);
    const inside = [...around, node as Collection];
    return node.items.every((item) => checkNode(item, inside, checking));
  } else if (isAlias(node) && !aliases.add(node.source, around)) {
    problems.push(expandsTooFar(spanOf(node as Node, '')));
    return false;
  }
  return true;
}

type Collection = YAMLMap.Parsed | YAMLSeq.Parsed;

/** Resolving an alias looks at all anchors before it: 50,000 of them took more than ten minutes. */
const MAX_ALIASES = 2_000;
const MAX_ALIAS_LEVELS = 10;

/** Aliases of aliases nest without any indentation, and an alias of what stands around it nests without end. */
class AliasLevels {
  readonly #levels = new Map<string, number>();
  #count = 0;

  add(name: string, around: readonly Collection[]): boolean {
    const level = (this.#levels.get(name) ?? 0) + 1;
    const anchors = around.flatMap(({ anchor }) => (anchor ? [anchor] : []));
    for (const anchor of anchors) this.#levels.set(anchor, Math.max(level, this.#levels.get(anchor) ?? 0));
    return !anchors.includes(name) && level <= MAX_ALIAS_LEVELS && ++this.#count <= MAX_ALIASES;
  }
}

export function expandsTooFar(at: Span): Diagnostic {
  return error(
    'too-many-aliases',
    'the anchors of this file expand too far',
    'write the parts out instead of referring to them',
    at,
  );
}

const CORE_TAG = /^tag:yaml\.org,2002:(str|int|float|bool|null|map|seq)$/;

/** Dates, sets and binaries are not JSON: they would all look alike to a key. */
function checkTag(node: Exclude<Node, Alias>, problems: Diagnostic[]): void {
  const { tag } = node;
  if (tag === undefined || tag === '!' || CORE_TAG.test(tag)) return;
  problems.push(
    error(
      'bad-tag',
      `the tag ${shown(tag)} is not read`,
      'remove the tag, and put text in quotes',
      spanOf(node, ''),
    ),
  );
}

function checkScalar({ value, source, range }: Scalar.Parsed, problems: Diagnostic[]): void {
  const at = { start: range[0], end: range[1] };
  const refuse = (code: string, message: string, hint: string) =>
    problems.push(error(code, message, hint, at));
  if (typeof value === 'string' && !value.isWellFormed())
    refuse('bad-text', 'this text contains half a character (a lone surrogate)', 'write the whole character');
  if (typeof value !== 'number') return;
  if (!Number.isFinite(value)) {
    const hint = 'write a finite number, or text in quotes';
    refuse('bad-number', `${source} is not a number that can be compared`, hint);
  } else if (/^[-+]?(\d+|0x[\da-f]+|0o[0-7]+)$/i.test(source) && !Number.isSafeInteger(value)) {
    const hint = `write it as text: "${source}"`;
    refuse('bad-number', `${source} has more digits than a number keeps exactly`, hint);
  }
}

export const IN_QUOTES = 'put the text in quotes: YAML reads its first character as more than text';

export const DUPLICATE_KEY = 'duplicate-key';

/** Those that stand for the first time. */
function checkKeys(items: Pair<Node, Node>[], problems: Diagnostic[]): Pair<Node, Node>[] {
  const seen = new Set<string>();
  const first: Pair<Node, Node>[] = [];
  for (const item of items) {
    const { key } = item;
    const at = spanOf(key, '');
    // An empty key would be read as '', beside a key that is written so.
    if (isMap(key) && key.flow) {
      problems.push(error('bad-key', "'{{' begins a map inside a map here", IN_QUOTES, at));
      continue;
    }
    if (!isScalar(key) || key.value === null) {
      problems.push(
        error('bad-key', 'a key must be a plain name', 'write the key as one word or in quotes', at),
      );
      continue;
    }
    const name = String(key.value);
    if (!seen.has(name)) first.push(item);
    else
      problems.push(
        error(
          DUPLICATE_KEY,
          `'${shown(name)}' stands twice in this map`,
          'remove or rename one of the two',
          at,
        ),
      );
    if (name === '__proto__')
      problems.push(error('bad-key', "'__proto__' cannot be used as a name", 'choose another name', at));
    if (name === '<<')
      problems.push(
        error(
          'bad-key',
          "merge keys ('<<') are not read",
          'write the fields out, or refer to a whole value with *name',
          at,
        ),
      );
    seen.add(name);
  }
  return first.length === items.length ? items : first;
}

export function error(code: string, message: string, hint: string, span: Span): Diagnostic {
  return { severity: 'error', code, message, hint, span };
}

export function spanOf(node: Node | null, text: string): Span {
  if (!node?.range) return { start: 0, end: Math.min(1, text.length) };
  return { start: node.range[0], end: Math.max(node.range[1], node.range[0]) };
}
