// Every migration there is, in order. What was released is never edited: a change is a new number.

import type { Migration } from './migration.ts';
import { controlPlane } from './migrations/0001-control-plane.ts';
import { tokens } from './migrations/0002-tokens.ts';
import { cheaperResults } from './migrations/0003-cheaper-results.ts';
import { skipped } from './migrations/0004-skipped.ts';

export const MIGRATIONS: readonly Migration[] = [controlPlane, tokens, cheaperResults, skipped];
