// The programs that everything stands on: Node, native hashing, a shell, git.

import { spawnSync } from 'node:child_process';
import { join } from 'node:path';
import { loadBlake3 } from '../../host/blake3.ts';
import { asBlake3 } from '../../schema/blake3.ts';
import type { Io } from '../command.ts';
import { type Finding, fail, ok, warn } from './finding.ts';

/** As package.json says. */
const OLDEST_NODE = [20, 19] as const;
const OF_NOTHING = 'blake3:af1349b9f5f9a1a6a0404dea36dcc9499bcb25c9adc112b7cc9a93cae41f3262';

export function checkNode(version: string): Finding {
  const [major = 0, minor = 0] = version.split('.').map(Number);
  const isOld = major < OLDEST_NODE[0] || (major === OLDEST_NODE[0] && minor < OLDEST_NODE[1]);
  const fact = `Node ${version}`;
  return isOld ? fail('node', fact, `install Node ${OLDEST_NODE.join('.')} or newer`) : ok('node', fact);
}

export function checkHashing(): Finding {
  const { name, hash } = loadBlake3();
  if (asBlake3(hash(new Uint8Array())) !== OF_NOTHING)
    return fail('hashing', `BLAKE3 (${name}) gives wrong digests`, 'install sluice anew: npm ci');
  if (name === 'native') return ok('hashing', 'BLAKE3 by the native addon');
  return warn(
    'hashing',
    'BLAKE3 by WebAssembly, some six times slower: there is no native addon for this platform',
    'install sluice anew with optional packages, so that @napi-rs/blake-hash brings its addon',
  );
}

export function checkShell({ env }: Io): Finding {
  const said = output('sh', ['-c', 'printf %s "$0"', 'works'], env);
  if (said === 'works') return ok('shell', 'sh runs commands');
  return fail('shell', 'sh cannot be started, and commands are run by it', 'put a POSIX sh into PATH');
}

/** Only lock files and event logs are meant for git, so its absence breaks nothing. */
export function checkGit({ env }: Io, project: string): Finding {
  const version = output('git', ['--version'], env);
  if (version === null) return warn('git', 'git is not in PATH', 'install git to keep lock files in it');
  const fact = version.trim();
  const inside = output('git', ['-C', project, 'rev-parse', '--is-inside-work-tree'], env);
  if (inside?.trim() !== 'true') return ok('git', `${fact}; ${project} is not in a repository`);
  // With the slash, because git takes a path that is not there for a file.
  const asked = ['-C', project, 'check-ignore', '-q', join(project, '.sluice/')];
  const isIgnored = spawnSync('git', asked, { env });
  if (isIgnored.status === 0) return ok('git', `${fact}; .sluice/ is ignored`);
  return warn('git', `${fact}; .sluice/ is not ignored`, `echo .sluice/ >> ${join(project, '.gitignore')}`);
}

function output(program: string, args: readonly string[], env: Io['env']): string | null {
  const { status, stdout } = spawnSync(program, args, { env, encoding: 'utf8' });
  return status === 0 ? stdout : null;
}
