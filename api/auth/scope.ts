// Which scope includes which.

import type { Caller, Scope } from '../parts.ts';

const INCLUDES: Readonly<Record<Scope, readonly Scope[]>> = {
  read: ['read'],
  watch: ['watch', 'read'],
  // Who runs commands finds out about their inputs, and says what it found.
  work: ['work', 'watch', 'read'],
  admin: ['admin', 'watch', 'work', 'read'],
};

export function holds(caller: Pick<Caller, 'scopes'>, needed: Scope): boolean {
  return caller.scopes.some((scope) => INCLUDES[scope].includes(needed));
}
