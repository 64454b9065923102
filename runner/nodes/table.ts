// The node types. Adding one is adding a row.

import { nearest, shown, suggest } from '../../schema/diagnostic.ts';
import type { Node } from '../../schema/workflow.ts';
import { agent } from './agent.ts';
import { command } from './command.ts';
import { condition } from './condition.ts';
import { discordSend } from './discord-send.ts';
import { http } from './http.ts';
import type { NodeType } from './node.ts';
import { notify } from './notify.ts';
import { set } from './set.ts';
import { stateList } from './state-list.ts';
import { stateRead } from './state-read.ts';
import { stateWrite } from './state-write.ts';
import { transform } from './transform.ts';

export const NODES: Readonly<Record<string, NodeType>> = {
  agent,
  claude_agent: agent,
  command,
  discord_send: discordSend,
  http,
  if: condition,
  notify,
  set,
  state_list: stateList,
  state_read: stateRead,
  state_write: stateWrite,
  transform,
};

export function nodeType(typeId: string): NodeType | null {
  return Object.hasOwn(NODES, typeId) ? NODES[typeId]! : null;
}

/** Part of the code hash (SEMANTICS 2); null for a type that there is not. */
export function nodeVersion(typeId: string): number | null {
  return nodeType(typeId)?.version ?? null;
}

/** What is wrong with a node before anything is run, each with the next step. */
export function nodeProblems(node: Node, whenTrue: Node | null): readonly string[] {
  const own = problemsOf(node);
  if (node.typeId !== 'if')
    return whenTrue === null ? own : [...own, `a node of typeId ${shown(node.typeId)} has no 'then'`];
  if (whenTrue === null)
    return [...own, "an 'if' needs a 'then': the node that makes the out when it is true"];
  if (whenTrue.typeId === 'if')
    return [...own, "an 'if' cannot stand under 'then'; join the conditions with &&"];
  return [...own, ...problemsOf(whenTrue).map((problem) => `then: ${problem}`)];
}

function problemsOf({ typeId, data }: Node): readonly string[] {
  const type = nodeType(typeId);
  if (type !== null) return type.problems(data).map((problem) => `${typeId}: ${problem}`);
  const known = Object.keys(NODES);
  const hint = nearest(typeId, known) === undefined ? `known: ${known.join(', ')}` : suggest(typeId, known);
  return [`unknown node type '${shown(typeId)}'; ${hint}`];
}
