// How a mistake in the order of stages is told: the loop, or both writers, at the place of one of them.

import type { DagProblem } from '../dag.ts';
import { type Diagnostic, shown } from '../diagnostic.ts';
import type { SourceDocument } from '../source-document.ts';
import { type StageId, unreachable } from '../words.ts';
import type { DraftStage } from './draft.ts';

type Places = ReadonlyMap<StageId, DraftStage>;

export function tellDagProblem(problem: DagProblem, document: SourceDocument, places: Places): Diagnostic {
  const at = (id: StageId) => places.get(id)!.at;
  const outAt = (id: StageId, index: number) => places.get(id)!.outs[index]?.at ?? at(id);
  switch (problem.problem) {
    case 'cycle': {
      const [first] = problem.stages;
      const loop = [...problem.stages, first!].map(shown).join(' → ');
      const message =
        problem.stages.length === 1
          ? `stage '${shown(first!)}' waits for itself`
          : `these stages wait for each other: ${loop}`;
      return {
        severity: 'error',
        code: 'cycle',
        message,
        hint: "remove one dep or 'after' of the loop",
        span: document.keySpan(at(first!)),
      };
    }
    case 'two-writers': {
      const [one, two] = problem.stages;
      const both = `'${shown(one)}' and '${shown(two)}' both write ${shown(problem.paths[1])}${nested(problem.paths)}`;
      return {
        severity: 'error',
        code: 'two-writers',
        message: one === two ? twiceIn(one, problem.paths) : both,
        hint: one === two ? 'remove one of the two' : 'give each stage its own out',
        span: document.valueSpan(outAt(two, problem.outIndex)),
      };
    }
    case 'own-dep': {
      const meets = problem.out.length < problem.dep.length ? 'around' : 'into';
      const message = `stage '${shown(problem.stage)}' writes ${shown(problem.out)} ${meets} its own dep ${shown(problem.dep)}, so it would never be fresh`;
      return {
        severity: 'error',
        code: 'own-dep',
        message,
        hint: 'write the out to another directory',
        span: document.valueSpan(outAt(problem.stage, problem.outIndex)),
      };
    }
    default:
      return unreachable(problem);
  }
}

function nested(paths: readonly [string, string]): string {
  return isOnePlace(paths) ? '' : ` (which meets ${shown(paths[0])})`;
}

function twiceIn(stage: StageId, [one, two]: readonly [string, string]): string {
  const [outer, inner] = one.length < two.length ? [one, two] : [two, one];
  if (isOnePlace([one, two])) return `stage '${shown(stage)}' lists ${shown(two)} twice`;
  return `stage '${shown(stage)}' writes ${shown(inner)} inside its own out ${shown(outer)}`;
}

function isOnePlace([one, two]: readonly [string, string]): boolean {
  return one.replace(/\/$/, '') === two.replace(/\/$/, '');
}
