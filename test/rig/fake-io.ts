// An Io that remembers what was written, for running commands inside the test's own process.

import type { Io } from '../../cli/command.ts';

export interface FakeIo extends Io {
  readonly written: { stdout: string; stderr: string };
}

export function fakeIo(overrides: Partial<Io> = {}): FakeIo {
  const written = { stdout: '', stderr: '' };
  return {
    stdout: { write: (text) => (written.stdout += text) },
    stderr: { write: (text) => (written.stderr += text) },
    env: {},
    cwd: '/nowhere',
    isTTY: false,
    columns: 80,
    color: false,
    ...overrides,
    written,
  };
}
