// What the control plane is made of: everything from outside that its routes may use, and who is asking.

import type { RouterRoute } from 'hono/types';
import type { HashBytes } from '../schema/blake3.ts';
import type { Bell } from './bell.ts';
import type { Incident } from './http/incident.ts';
import type { Database } from './store/database.ts';
import type { Store } from './store/store.ts';

export interface Parts {
  readonly db: Database;
  readonly hash: HashBytes;
  readonly nowMs: () => number;
  readonly randomBytes: (count: number) => Uint8Array;
  readonly version: string;
  /** Null where Cloudflare Access does not stand in front: its header is then ignored. */
  readonly access: AccessSettings | null;
  readonly rate: RateSettings;
  /** Awaited before every request: throws if the database is not one that this program knows. */
  readonly ready?: () => Promise<void>;
  /** Gets what is not the caller's mistake, with the number that the caller was given. */
  readonly report: (error: unknown, incident: Incident) => void;
}

export interface AccessSettings {
  /** `acme.cloudflareaccess.com` */
  readonly teamDomain: string;
  readonly audience: string;
  readonly readers: 'any' | readonly string[];
  readonly admins: readonly string[];
  /** How the team's public keys are fetched; the global fetch unless given. */
  readonly fetch?: typeof globalThis.fetch;
}

export interface RateSettings {
  readonly perSecond: number;
  readonly burst: number;
}

/** `admin` implies all others; `watch` and `work` imply `read`. */
export const SCOPES = ['read', 'watch', 'work', 'admin'] as const;
export type Scope = (typeof SCOPES)[number];

export interface Caller {
  readonly kind: 'token' | 'access' | 'process';
  readonly name: string;
  readonly scopes: readonly Scope[];
  /** The only workflow this caller may touch; null for any. */
  readonly workflow: string | null;
  /** The only target this caller may touch; null for any. */
  readonly target: string | null;
}

/** Tells who sent a request that came over the network. */
export interface Guard {
  /** Throws a problem (401, 429) for a request that proves nothing or asks too often. */
  admit(request: Request): Promise<Caller>;
  /** Forgets what it remembers of tokens, so that a revocation holds at once in this process. */
  forget(): void;
}

export interface AppEnv {
  Bindings: {
    /** Only code in this process can pass it, as the second argument of `app.fetch`; its bodies are in memory. */
    trusted?: Caller;
    /** The server ends a body where its Content-Length says, so that it needs no watching. */
    keepsLength?: true;
  };
  Variables: {
    caller: Caller;
    parts: Parts;
    guard: Guard;
    store: Store;
    bell: Bell;
    /** What the app answers to, for its own description. */
    routes: () => readonly RouterRoute[];
  };
}
