// Where `.sluice/` is: the nearest directory upwards that has one or a `.git`, else the workflow's own.

import { existsSync } from 'node:fs';
import { dirname, join } from 'node:path';

export function projectRootOf(workflowDir: string): string {
  for (let at = workflowDir; ; at = dirname(at)) {
    if (existsSync(join(at, '.sluice')) || existsSync(join(at, '.git'))) return at;
    if (dirname(at) === at) return workflowDir;
  }
}
