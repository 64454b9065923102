// Which stage or state a person means: `transcribe_{sample}`, `transcribe_lecture-01` or `STAGE@ENTITY` (SEMANTICS 12).

import { nearest, shown } from './diagnostic.ts';
import { matchPattern, type Pattern, parsePattern } from './pattern.ts';
import type { EntityId, StageId } from './words.ts';
import type { Stage } from './workflow.ts';

export type StateArgument =
  | { readonly kind: 'stage'; readonly stage: Stage }
  | { readonly kind: 'state'; readonly stage: Stage; readonly entity: EntityId }
  /** An expanded name that two stages could have given. */
  | { readonly kind: 'ambiguous'; readonly stages: readonly StageId[]; readonly hint: string }
  | { readonly kind: 'unknown'; readonly hint: string };

/** An exact stage id wins over STAGE@ENTITY, and that over an expanded name. */
export function readStateArgument(written: string, stages: readonly Stage[]): StateArgument {
  const exact = stages.find(({ id }) => id === written);
  if (exact !== undefined) return { kind: 'stage', stage: exact };
  return atEntity(written, stages) ?? expanded(written, stages) ?? unknown(written, stages);
}

/** Both names may hold an `@`: the longest stage id that fits is the one. */
function atEntity(written: string, stages: readonly Stage[]): StateArgument | null {
  const fitting = stages
    .filter(({ id }) => written.startsWith(`${id}@`))
    .sort((a, b) => b.id.length - a.id.length);
  const stage = fitting[0];
  if (stage === undefined) return null;
  const entity = written.slice(stage.id.length + 1) as EntityId;
  return entity === '' ? { kind: 'stage', stage } : { kind: 'state', stage, entity };
}

function expanded(written: string, stages: readonly Stage[]): StateArgument | null {
  const found = stages.flatMap((stage) => {
    const pattern = namePattern(stage);
    const bindings = pattern === null ? null : matchPattern(pattern, written);
    if (pattern === null || bindings === null) return [];
    const entity = stage.variables.map((name) => bindings[name]).join('/') as EntityId;
    return [{ stage, entity, literal: literalLength(pattern) }];
  });
  const most = Math.max(...found.map(({ literal }) => literal));
  // `a_b_{x}` says more about `a_b_c` than `a_{x}` does.
  const best = found.filter(({ literal }) => literal === most);
  if (best.length === 0) return null;
  if (best.length === 1) return { kind: 'state', stage: best[0]!.stage, entity: best[0]!.entity };
  const first = best[0]!;
  return {
    kind: 'ambiguous',
    stages: best.map(({ stage }) => stage.id),
    hint: `write it as STAGE@ENTITY, for example '${shown(first.stage.id)}@${shown(first.entity)}'`,
  };
}

/** Only a stage whose name has all of its variables is shown with their values in place. */
function namePattern({ id, variables, fanOut }: Stage): Pattern | null {
  if (fanOut !== null || variables.length === 0) return null;
  const parsed = parsePattern(id);
  if (!parsed.ok || parsed.pattern.text !== id) return null;
  return variables.every((name) => parsed.pattern.variables.includes(name)) ? parsed.pattern : null;
}

function literalLength({ segments }: Pattern): number {
  return segments.flat().reduce((sum, part) => sum + (part.kind === 'literal' ? part.text.length : 0), 0);
}

function unknown(written: string, stages: readonly Stage[]): StateArgument {
  const ids = stages.map(({ id }) => id as string);
  const close =
    nearest(written, ids) ?? nearest(written.split('@')[0]!, ids) ?? nearestExpanded(written, ids);
  if (close !== undefined) return { kind: 'unknown', hint: `did you mean '${shown(close)}'?` };
  if (ids.length === 0) return { kind: 'unknown', hint: 'the workflow has no stages' };
  const few = ids.slice(0, 12).map(shown).join(', ');
  return { kind: 'unknown', hint: `its stages: ${few}${ids.length > 12 ? ', …' : ''}` };
}

/** `trancribe_lecture-01` is near to `transcribe_{sample}` by what stands before its variable. */
function nearestExpanded(written: string, ids: readonly string[]): string | undefined {
  const heads = new Map(
    ids.flatMap((id) => {
      const head = id.split('{')[0]!;
      return head === id || head === '' ? [] : [[head, id] as const];
    }),
  );
  for (const [head, id] of heads) if (nearest(written.slice(0, head.length), [head]) !== undefined) return id;
  return undefined;
}
