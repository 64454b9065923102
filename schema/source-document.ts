// Reads YAML or JSON text into a plain value, and remembers where in the text every part of it stood.

import {
  Composer,
  type CST,
  type Document,
  isAlias,
  isMap,
  isScalar,
  isSeq,
  Lexer,
  type Node,
  type Pair,
  Parser,
  visit,
  type YAMLMap,
  YAMLParseError,
} from 'yaml';
import type { Diagnostic, Report, Span } from './diagnostic.ts';
import { checkNodes, DUPLICATE_KEY, error, expandsTooFar, IN_QUOTES, spanOf } from './source-checks.ts';

export type Path = readonly (string | number)[];

export interface SourceDocument {
  readonly text: string;
  readonly value: unknown;
  /** Of the value at the path, or of the nearest thing around it that is in the text. */
  valueSpan(path: Path): Span;
  /** Of the key that ends the path, or of the value if it has none. */
  keySpan(path: Path): Span;
  /** Of a part of the text that stands at the path, or of the whole text if that part was folded or escaped. */
  spanWithin(path: Path, value: string, part: Span): Span;
}

/** A 5,000-stage playbook is about 1 MB; nobody writes more than this by hand. */
export const MAX_SOURCE_BYTES = 8 * 1024 * 1024;

/** Null if there is no value to go on with; a key that stands twice is reported, and read as it stands first. */
export function readDocument(text: string, report: Report): SourceDocument | null {
  const problems: Diagnostic[] = [];
  const parsed = parse(text, problems);
  for (const problem of problems) report(problem);
  if (parsed === null || problems.some(({ code }) => code !== DUPLICATE_KEY)) return null;
  const unread: Diagnostic[] = [];
  const value = toValue(parsed, unread);
  if (unread.length > 0) {
    // An anchor may have stood in what was left out.
    if (problems.length === 0) for (const problem of unread) report(problem);
    return null;
  }
  return {
    text,
    value,
    valueSpan: (path) => spanOf(nodeAt(parsed, path), text),
    keySpan: (path) => spanOf(keyAt(parsed, path) ?? nodeAt(parsed, path), text),
    spanWithin: (path, value, part) => narrow(spanOf(nodeAt(parsed, path), text), text, { value, part }),
  };
}

function parse(text: string, problems: Diagnostic[]): Document.Parsed | null {
  if (text.trim() === '') {
    problems.push(
      error('empty-file', 'the file is empty', 'run `sluice init FILE` for a starter workflow', {
        start: 0,
        end: 0,
      }),
    );
    return null;
  }
  const document = compose(text);
  if (document === null) {
    const hint = 'flatten it; no workflow needs this depth';
    problems.push(error('too-deep', 'the file is nested too deeply to read', hint, { start: 0, end: 1 }));
    return null;
  }
  for (const { code, message, pos } of firstOfEachLine(document.errors, text).slice(0, 20))
    problems.push(syntaxError(code, message, { pos, text }));
  if (problems.length === 0) checkNodes(document, problems);
  return document;
}

/** One slip makes the parser complain about all that follows on the line; only the first complaint helps. */
function firstOfEachLine<E extends { readonly pos: readonly [number, number] }>(
  errors: readonly E[],
  text: string,
): E[] {
  const lines = new Set<number>();
  return errors.filter(({ pos: [start] }) => {
    const line = text.lastIndexOf('\n', start - 1);
    return lines.has(line) ? false : lines.add(line);
  });
}

const MAX_DEPTH = 200;

/**
 * The parser recurses, and running out of stack inside a regular expression ends the whole process rather than
 * throwing, so depth is bounded while the tokens go by: brackets as the lexer sees them, since those in quotes
 * are only text; blocks nest by indentation, so a line that begins this far to the right is too deep.
 */
function compose(text: string): Document.Parsed | null {
  if (new RegExp(`^[ \\t?:-]{${2 * MAX_DEPTH}}`, 'm').test(text)) return null;
  const tokens = bounded(text);
  // uniqueKeys is quadratic in this library (50,000 keys: 17 s), so duplicates are looked for below.
  const composer = new Composer({ uniqueKeys: false, schema: 'core', logLevel: 'error' });
  return tokens === null ? null : onlyDocument(composer.compose(tokens, true, text.length));
}

/** What the composer reads, or null where nesting would be too deep for it. */
function bounded(text: string): CST.Token[] | null {
  const parser = new Parser();
  const tokens: CST.Token[] = [];
  let depth = 0;
  for (const lexeme of new Lexer().lex(text)) {
    if (lexeme === '[' || lexeme === '{') depth++;
    else if (lexeme === ']' || lexeme === '}') depth--;
    if (depth > MAX_DEPTH) return null;
    for (const token of parser.next(lexeme)) tokens.push(token);
  }
  for (const token of parser.end()) tokens.push(token);
  return tokens;
}

function onlyDocument(documents: Iterable<Document.Parsed>): Document.Parsed {
  const [first, second] = documents;
  if (second !== undefined) {
    const [start, end] = second.range;
    first!.errors.push(new YAMLParseError([start, end], 'MULTIPLE_DOCS', 'the file holds several documents'));
  }
  return first!;
}

function toValue(document: Document.Parsed, problems: Diagnostic[]): unknown {
  try {
    return document.toJS({ maxAliasCount: 100 });
  } catch (cause) {
    const { message } = cause as Error;
    const at = firstAlias(document);
    if (message.startsWith('Unresolved alias'))
      problems.push(error('unknown-anchor', message, NEXT_STEP.UNRESOLVED_ALIAS!, at));
    else problems.push(expandsTooFar(at));
    return undefined;
  }
}

const NEXT_STEP: Readonly<Record<string, string>> = {
  TAB_AS_INDENT: 'indent with spaces: YAML does not allow tabs there',
  BAD_INDENT: 'line the keys of one map up in the same column',
  MULTIPLE_DOCS: 'keep one workflow per file',
  MISSING_CHAR: 'add the missing character, or put the text in quotes',
  BLOCK_AS_IMPLICIT_KEY:
    'put the text in quotes if it contains a colon followed by a space; if not, line the keys up in one column',
  BAD_SCALAR_START: IN_QUOTES,
  UNRESOLVED_ALIAS: 'define the anchor (&name) before it is used (*name)',
};

interface ErrorPlace {
  readonly pos: readonly [number, number];
  readonly text: string;
}

function syntaxError(code: string, message: string, { pos: [start, end], text }: ErrorPlace): Diagnostic {
  return error(
    code === 'TAB_AS_INDENT' ? 'tab-indentation' : 'syntax',
    message,
    remedyFor(code, start, text),
    {
      start,
      end: Math.max(end, start + 1),
    },
  );
}

/** Braces are what people trip over most: YAML takes a path or a template that begins with one for a map. */
function remedyFor(code: string, start: number, text: string): string {
  if (/^\{[\w-]+\}/.test(text.slice(start, start + 80)))
    return 'put a path with {variables} in quotes when it stands inside [ ]';
  const line = text.slice(text.lastIndexOf('\n', start - 1) + 1, start);
  if (/(?:^|[:-] )\s*\{\{/.test(line)) return IN_QUOTES;
  return NEXT_STEP[code] ?? 'check the punctuation and indentation at this place';
}

/** Follows the path as far as it goes; the last node reached is the nearest place that is in the text. */
function nodeAt(document: Document.Parsed, path: Path): Node | null {
  let node: Node | null = document.contents;
  for (const step of path) {
    if (isAlias(node)) node = node.resolve(document) ?? node;
    const next: unknown = isMap(node) ? pairAt(node, step)?.value : isSeq(node) ? node.get(step, true) : null;
    if (!isNode(next)) break;
    node = next;
  }
  return node;
}

function keyAt(document: Document.Parsed, path: Path): Node | null {
  const last = path.at(-1);
  const parent = nodeAt(document, path.slice(0, -1));
  if (last === undefined || !isMap(parent)) return null;
  const key = pairAt(parent, last)?.key;
  return isNode(key) ? key : null;
}

/** A key that was written as a number or a word like `true` is a string in the path. */
function pairAt(map: YAMLMap, step: string | number): Pair | undefined {
  return map.items.find(({ key }) => isScalar(key) && String(key.value) === String(step));
}

function isNode(value: unknown): value is Node {
  return typeof value === 'object' && value !== null && 'range' in value;
}

interface Within {
  readonly value: string;
  readonly part: Span;
}

/** The same words may stand several times: as many of them are passed over as come before the part. */
function narrow(span: Span, text: string, { value, part }: Within): Span {
  const words = value.slice(part.start, part.end);
  let start = text.indexOf(words, span.start);
  for (
    let at = value.indexOf(words);
    start >= 0 && at >= 0 && at < part.start;
    at = value.indexOf(words, at + 1)
  )
    start = text.indexOf(words, start + 1);
  return start < 0 || start + words.length > span.end ? span : { start, end: start + words.length };
}

function firstAlias(document: Document.Parsed): Span {
  let found: Span = { start: 0, end: 1 };
  visit(document, {
    Alias: (_, alias) => {
      found = spanOf(alias as Node, '');
      return visit.BREAK;
    },
  });
  return found;
}
