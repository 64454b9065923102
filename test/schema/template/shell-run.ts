// Runs rendered commands in the shells of this machine, where the only program to be found is a canary.

import { spawnSync } from 'node:child_process';
import {
  existsSync,
  mkdirSync,
  mkdtempSync,
  readdirSync,
  realpathSync,
  rmSync,
  writeFileSync,
} from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';

/** sh always; dash and bash where they are installed and not what sh is anyway. */
export const SHELLS: readonly [name: string, program: string][] = findShells();

export interface Ran {
  readonly stdout: string;
  readonly stderr: string;
  /** What is left in the script's directory: by a redirection, or `sang…` by the canary. */
  readonly left: readonly string[];
}

/** For a * or ? that was not quoted. */
const DECOYS: readonly string[] = ['x', 'decoy'];

/** A value that says `canary` must never get it to run. */
export function runIn(program: string, script: string): Ran {
  const place = mkdtempSync(join(tmpdir(), 'sluice-template-'));
  const [bin, cwd] = [join(place, 'bin'), join(place, 'cwd')];
  try {
    mkdirSync(bin);
    mkdirSync(cwd);
    for (const name of DECOYS) writeFileSync(join(cwd, name), '');
    writeFileSync(join(bin, 'canary'), `#!/bin/sh\n: > "${cwd}/sang$CASE"\n`, { mode: 0o755 });
    writeFileSync(join(place, 'script'), script);
    const { stdout, stderr } = spawnSync(program, [join(place, 'script')], {
      cwd,
      env: { PATH: bin, LC_ALL: 'C.UTF-8' },
      timeout: 15_000,
      maxBuffer: 100_000_000,
      encoding: 'utf8',
      stdio: ['ignore', 'pipe', 'pipe'],
    });
    return { stdout, stderr, left: readdirSync(cwd).filter((name) => !DECOYS.includes(name)) };
  } finally {
    rmSync(place, { recursive: true });
  }
}

function findShells(): [string, string][] {
  const folders = (process.env.PATH ?? '/bin').split(':');
  const found = new Map<string, [string, string]>();
  for (const name of ['sh', 'dash', 'bash']) {
    const program = folders.map((folder) => join(folder, name)).find((path) => existsSync(path));
    if (program !== undefined && !found.has(realpathSync(program)))
      found.set(realpathSync(program), [name, program]);
  }
  return [...found.values()];
}
