// Runs the node of one state: checks its data, fills in its templates, and writes the out or says why not.

import type { Node } from '../../schema/workflow.ts';
import { createFill } from './fill.ts';
import type { NodeContext, NodeWork } from './node.ts';
import { CANCELLED, failed, type NodeResult } from './result.ts';
import { nodeProblems, nodeType } from './table.ts';

export async function runNode(node: Node, whenTrue: Node | null, context: NodeContext): Promise<NodeResult> {
  const problems = nodeProblems(node, whenTrue);
  if (problems.length > 0) return failed(problems.join('\n'));
  if (context.signal.aborted) return CANCELLED;
  const secrets = new Set<string>();
  const work: NodeWork = {
    ...context,
    secret: (name) => remember(context.secret(name), secrets),
    fill: createFill(context),
    whenTrue: () => nodeType(whenTrue!.typeId)!.run(whenTrue!.data, work),
  };
  const result = await nodeType(node.typeId)!.run(node.data, work);
  return result.kind === 'failed' ? { ...result, error: withoutSecrets(result.error, secrets) } : result;
}

function remember(secret: string | undefined, secrets: Set<string>): string | undefined {
  if (secret !== undefined && secret !== '') secrets.add(secret);
  return secret;
}

/** A server may send back what it was sent, and errors are kept and shown. */
function withoutSecrets(text: string, secrets: ReadonlySet<string>): string {
  let clean = text;
  for (const secret of secrets) clean = clean.replaceAll(secret, '***');
  return clean;
}
