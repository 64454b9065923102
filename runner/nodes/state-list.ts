// `state_list`: the entities that a pattern has on disk, as JSON.

import * as z from 'zod';
import { isHidden } from '../../host/ignore.ts';
import { compareCodePoints } from '../../schema/canonical.ts';
import {
  type Bindings,
  matchPattern,
  type Pattern,
  type PatternPart,
  parsePattern,
  type Segment,
} from '../../schema/pattern.ts';
import { defineNode } from './node.ts';
import { noPart, type Part, part } from './result.ts';
import { type Step, walk } from './walk.ts';
import { writeJson } from './write-out.ts';

/** Variables of the stage's own entity have its values; the others say what is listed. */
export const stateList = defineNode({
  version: 1,
  data: z.strictObject({ pattern: z.string().min(1) }),
  run: async ({ pattern: written }, { scope, root, out }) => {
    const pattern = readPattern(written, scope.entity);
    if (!pattern.ok) return pattern.failed;
    const found = walk(pattern.value.absolute ? '/' : root, pattern.value.segments.map(stepOf));
    if (!found.ok) return found.failed;
    const entities = found.value.flatMap(({ path, kind }) => {
      const isRight = pattern.value.directory ? kind === 'directory' : true;
      const full = pattern.value.absolute ? `/${path}` : path;
      const bindings = isRight ? matchPattern(pattern.value, full) : null;
      return bindings === null
        ? []
        : [{ id: idOf(pattern.value, bindings), path: full, entity: { ...bindings } }];
    });
    return writeJson(
      out,
      entities.sort((a, b) => compareCodePoints(a.id, b.id)),
    );
  },
});

function readPattern(written: string, entity: Bindings): Part<Pattern> {
  if (written.includes('{{'))
    return noPart('the pattern of a state_list takes {variables} only; write what {{…}} stands for into it');
  const parsed = parsePattern(written);
  if (!parsed.ok) return noPart(`${parsed.message}; ${parsed.hint}`);
  const segments = parsed.pattern.segments.map((segment) => bind(segment, entity));
  return part({
    ...parsed.pattern,
    segments,
    variables: parsed.pattern.variables.filter((name) => !Object.hasOwn(entity, name)),
  });
}

/** A bound variable is a literal, one with those beside it, as the matcher expects. */
function bind(segment: Segment, entity: Bindings): Segment {
  const bound: PatternPart[] = [];
  for (const each of segment) {
    const text =
      each.kind === 'literal' ? each.text : Object.hasOwn(entity, each.name) ? entity[each.name] : undefined;
    const last = bound.at(-1);
    if (text === undefined) bound.push(each);
    else if (last?.kind === 'literal') bound[bound.length - 1] = { kind: 'literal', text: last.text + text };
    else bound.push({ kind: 'literal', text });
  }
  return bound;
}

/** As when scanning: a variable at the start of a name passes over hidden ones. */
function stepOf(segment: Segment): Step {
  const [first, ...others] = segment;
  if (first?.kind === 'literal' && others.length === 0) return { kind: 'name', name: first.text };
  const single: Pattern = { text: '', absolute: false, directory: false, segments: [segment], variables: [] };
  const isOpen = first?.kind === 'variable';
  return {
    kind: 'some',
    accepts: (name) => !(isOpen && isHidden(name)) && matchPattern(single, name) !== null,
  };
}

function idOf({ variables }: Pattern, bindings: Bindings): string {
  return variables.map((name) => bindings[name]).join('/');
}
