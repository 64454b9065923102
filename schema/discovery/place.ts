// From paths as a workflow writes them to absolute ones on a target (SEMANTICS 13).

import type { Pattern, Segment } from '../pattern.ts';
import type { TargetName } from '../words.ts';
import type { Workflow } from '../workflow.ts';

export function rootOn(
  { root, workflow }: { readonly root: string; readonly workflow: Workflow },
  target: TargetName,
): string {
  return workflow.targets[target]?.root ?? root;
}

/** The root's own names are literal, whatever braces they hold; a leading `..` takes one of them away. */
export function placePattern(pattern: Pattern, root: string): Pattern {
  if (pattern.absolute) return pattern;
  const segments: Segment[] = namesOf(root).map((text) => [{ kind: 'literal', text }]);
  for (const segment of pattern.segments) {
    const [only] = segment;
    if (segment.length === 1 && only?.kind === 'literal' && only.text === '..') segments.pop();
    else segments.push(segment);
  }
  const text = `/${segments.map(written).join('/')}${pattern.directory ? '/' : ''}`;
  return { ...pattern, text, absolute: true, segments };
}

/** The form under which a path is known: without the slash that marks a directory. */
export function pathId(path: string): string {
  return path.length > 1 && path.endsWith('/') ? path.slice(0, -1) : path;
}

function namesOf(path: string): string[] {
  return path.split('/').filter((name) => name !== '');
}

function written(segment: Segment): string {
  return segment.map((part) => (part.kind === 'literal' ? part.text : `{${part.name}}`)).join('');
}
