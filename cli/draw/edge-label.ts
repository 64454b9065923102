// What is written on a line between two stages: the path that flows, or that only the order counts.

import type { Edge } from '../../schema/dag.ts';
import { shown } from '../../schema/diagnostic.ts';

export function edgeLabel({ cause }: Edge): string {
  return cause.kind === 'after' ? 'after' : shown(cause.path);
}
