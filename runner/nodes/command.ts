// `command`: a shell command, as in any other stage. In a pipeline it mostly stands under `then`.

import { commandData } from '../../schema/front/pipeline-shape.ts';
import { parseTemplate } from '../../schema/template/parse.ts';
import { references } from '../../schema/template/references.ts';
import type { Node } from '../../schema/workflow.ts';
import { howEnded } from './ended.ts';
import { defineNode, type NodeWork } from './node.ts';
import { MADE, type Part, part } from './result.ts';

export const command = defineNode({
  version: 1,
  data: commandData,
  run: async ({ cmd, env }, work) => {
    const script = work.fill.shell(cmd);
    if (!script.ok) return script.failed;
    const variables = fillEnvironment(env ?? {}, work);
    if (!variables.ok) return variables.failed;
    const executed = await work.execute({
      command: { kind: 'shell', script: `${script.value}\n` },
      env: variables.value,
    });
    return howEnded(executed) ?? MADE;
  },
});

/** Whether the out is a file beside its place, as of every node but a command that knows its path by itself. */
export function takesOut(node: Node, whenTrue: Node | null): boolean {
  const maker = node.typeId === 'if' ? whenTrue : node;
  const cmd = maker?.typeId === 'command' ? maker.data.cmd : undefined;
  if (typeof cmd !== 'string') return true;
  const used = references(parseTemplate(cmd, { variables: [], dialect: 'braces' }));
  return used.some(({ root, keys }) => root === 'output' || (root === 'outs' && keys[0] === 0));
}

function fillEnvironment(
  env: Readonly<Record<string, string | number | boolean>>,
  { fill }: NodeWork,
): Part<Readonly<Record<string, string>>> {
  const filled: Record<string, string> = {};
  for (const [name, value] of Object.entries(env)) {
    const text = fill.text(String(value));
    if (!text.ok) return text;
    filled[name] = text.value;
  }
  return part(filled);
}
