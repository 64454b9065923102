// Reads a lock file that something else gave another layout, such as a formatter in a commit hook.

import { type Document, isNode, LineCounter, parseDocument, visit } from 'yaml';

export type Reformatted =
  | { readonly ok: true; readonly tree: unknown; readonly lineOf: (path: readonly PropertyKey[]) => number }
  /** Without a message it is not YAML at all, and the line reader's complaint says more. */
  | { readonly ok: false; readonly line?: number; readonly message?: string };

/** About a second of the `yaml` package's time. */
const LARGEST_LENGTH = 4 * 1024 * 1024;

export function readReformatted(text: string): Reformatted {
  if (text.length > LARGEST_LENGTH) return { ok: false };
  const counter = new LineCounter();
  const lineAt = (offset: number) => counter.linePos(offset).line;
  try {
    // The package's own check for keys that stand twice takes quadratic time, so there is another below.
    const document = parseDocument(text, { uniqueKeys: false, lineCounter: counter });
    if (document.errors.length > 0) return { ok: false };
    const twice = keyThatStandsTwice(document);
    if (twice !== undefined)
      return { ok: false, line: lineAt(twice), message: 'a name stands here a second time' };
    const tree: unknown = document.toJS({ mapAsMap: true });
    return { ok: true, tree, lineOf: (path) => lineAt(offsetOf(document, path)) };
  } catch {
    // Too many aliases, or nested deeper than the stack.
    return { ok: false };
  }
}

function keyThatStandsTwice(document: Document): number | undefined {
  let offset: number | undefined;
  visit(document, {
    Map(_, node) {
      const seen = new Set<string>();
      for (const { key } of node.items) {
        const name = String(key);
        if (seen.has(name)) {
          offset = isNode(key) ? (key.range?.[0] ?? 0) : 0;
          return visit.BREAK;
        }
        seen.add(name);
      }
      return undefined;
    },
  });
  return offset;
}

function offsetOf(document: Document, path: readonly PropertyKey[]): number {
  for (let length = path.length; length > 0; length--) {
    const node = document.getIn(path.slice(0, length), true);
    if (isNode(node)) return node.range?.[0] ?? 0;
  }
  return 0;
}
