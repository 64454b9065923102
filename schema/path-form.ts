// One form per path: an absolute path below the workflow's own directory is the relative one in disguise.

import type { Locate } from './dag.ts';
import { LOCAL, type TargetName } from './words.ts';
import type { Workflow } from './workflow.ts';

export function locateIn({ targets }: Pick<Workflow, 'targets'>, root: string | null): Locate {
  return (path, target) => {
    const base = rootOf(targets, target, root);
    if (base === null || !path.startsWith('/')) return path;
    const prefix = base.endsWith('/') ? base : `${base}/`;
    if (path === base || path === prefix) return './';
    return path.startsWith(prefix) ? path.slice(prefix.length) : path;
  };
}

function rootOf(targets: Workflow['targets'], target: TargetName, root: string | null): string | null {
  const own = targets[target];
  if (own?.root) return own.root;
  return target === LOCAL || own?.host === 'localhost' ? root : null;
}
