// What becomes of a lock file that cannot be read: a copy is kept, and the file is written anew from what is true.

import { createHash } from 'node:crypto';
import { copyFileSync, mkdirSync, readFileSync } from 'node:fs';
import { basename, join } from 'node:path';
import { shown } from '../../schema/diagnostic.ts';
import type { LockDamage } from './lock-on-disk.ts';

/** Named by its bytes, so that looking again keeps no second copy. */
export function keepLockAside(own: string, warn: (warning: string) => void): (damage: LockDamage) => void {
  return ({ path, place, message }) => {
    const digest = createHash('sha256').update(readFileSync(path)).digest('hex').slice(0, 8);
    const aside = join(own, `${basename(path)}.damaged-${digest}`);
    mkdirSync(own, { recursive: true });
    copyFileSync(path, aside);
    warn(
      `${shown(place)}: ${message}; a copy is kept as ${shown(aside)}, and a run writes it anew from what is known here`,
    );
  };
}
