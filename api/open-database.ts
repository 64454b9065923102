// A database by its URL, ready for use: a file of this process's own, or sqld and Turso over HTTP. Node only.

import { fileURLToPath } from 'node:url';
import { MIGRATIONS } from '../schema/migrations.ts';
import type { Database } from './store/database.ts';
import { openEmbedded } from './store/embedded.ts';
import { checkVersion, migrate } from './store/migrate.ts';

export interface DatabasePlace {
  /** `file:…`, a path, or an http(s) or libsql URL. */
  readonly url: string;
  readonly token?: string | undefined;
}

/** A file is brought up to date by itself; a shared database only by `sluice db migrate`. */
export async function openDatabase(place: DatabasePlace, nowMs: number): Promise<Database> {
  const db = await connect(place);
  try {
    if (isRemote(place.url)) await checkVersion(db, MIGRATIONS);
    else await migrate(db, MIGRATIONS, nowMs);
    return db;
  } catch (error) {
    await db.close();
    throw error;
  }
}

export async function connect({ url, token }: DatabasePlace): Promise<Database> {
  if (isRemote(url)) {
    // Most have their database beside them, and need not load what reaches another.
    const { openRemote } = await import('./store/remote.ts');
    return openRemote({ url, token });
  }
  return openEmbedded({ file: url.startsWith('file:') ? filePath(url) : url });
}

export function isRemote(url: string): boolean {
  return /^(https?|libsql|wss?):/.test(url);
}

function filePath(url: string): string {
  return url.startsWith('file://') ? fileURLToPath(url) : url.slice('file:'.length);
}
