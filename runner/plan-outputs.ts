// Where each output is made: a file whose path the action takes from us beside its place, any other where it belongs.

import { parseTemplate } from '../schema/template/parse.ts';
import { references } from '../schema/template/references.ts';
import { unreachable } from '../schema/words.ts';
import { takesOut } from './nodes/command.ts';
import type { OutPlan } from './outputs.ts';
import type { StateFiles } from './state-files.ts';

export function planOutputs({ stage, outs }: StateFiles): OutPlan[] {
  const told = toldOuts(stage.action, stage.variables);
  return outs
    .map(({ path, directory, remote }, i) => ({
      path,
      remote,
      made: told(i) && !directory ? ('beside' as const) : ('in-place' as const),
    }))
    .filter(({ remote }) => remote === null)
    .map(({ path, made }) => ({ path, made }));
}

function toldOuts(
  action: StateFiles['stage']['action'],
  variables: readonly string[],
): (index: number) => boolean {
  switch (action.kind) {
    case 'shell': {
      const used = references(parseTemplate(action.cmd, { variables, dialect: 'braces' }));
      const indexes = used.flatMap(({ root, keys }) => {
        if (root === 'output') return [0];
        return root === 'outs' && typeof keys[0] === 'number' ? [keys[0]] : [];
      });
      return (index) => indexes.includes(index);
    }
    case 'node':
      return (index) => index === 0 && takesOut(action.node, action.whenTrue);
    case 'program':
    case 'check':
    case 'none':
      return () => false;
    default:
      return unreachable(action);
  }
}
