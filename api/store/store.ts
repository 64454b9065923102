// What every operation of the store is given: the database, the registry, and what must not be guessed.

import type { HashBytes } from '../../schema/blake3.ts';
import type { Database } from './database.ts';
import type { RegisteredCache } from './registered.ts';
import type { Sightings } from './seen-machine.ts';

export interface Store {
  readonly db: Database;
  readonly registered: RegisteredCache;
  readonly sightings: Sightings;
  readonly hash: HashBytes;
  readonly nowMs: () => number;
  /** A number that no other request has. */
  readonly nonce: () => number;
}
