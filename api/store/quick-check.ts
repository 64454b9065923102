// Whether the pages of an embedded database hang together, by a connection of its own that only reads.

import Libsql from 'libsql';

/** What is wrong with it; nothing if it is whole. Throws if it is no database at all. */
export function quickCheck(file: string): readonly string[] {
  const database = new Libsql(file, { timeout: 5_000, readonly: true, fileMustExist: true });
  try {
    const rows = database.prepare('PRAGMA quick_check(5)').all() as { quick_check: string }[];
    return rows.map(({ quick_check }) => quick_check).filter((told) => told !== 'ok');
  } finally {
    database.close();
  }
}
