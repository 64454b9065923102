// What one check found: how it stands, the fact, and what to do about it.

export interface Finding {
  readonly check: string;
  readonly status: 'ok' | 'warn' | 'fail';
  readonly fact: string;
  /** An instruction; null where nothing is to be done. */
  readonly next: string | null;
}

export function ok(check: string, fact: string): Finding {
  return { check, status: 'ok', fact, next: null };
}

export function warn(check: string, fact: string, next: string): Finding {
  return { check, status: 'warn', fact, next };
}

export function fail(check: string, fact: string, next: string): Finding {
  return { check, status: 'fail', fact, next };
}
