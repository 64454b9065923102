// Sees to it that the Debian packages in debian-packages.txt are there, as far as this machine allows.

import { spawnSync } from 'node:child_process';
import { readFileSync } from 'node:fs';

/** @returns whether the tests may go on: on a developer's machine a missing package only skips tests */
export function ensureDebianPackages() {
  const wanted = missingOf(listed());
  if (wanted.length === 0) return true;
  if (mayInstall()) install(wanted);
  const missing = missingOf(wanted);
  if (missing.length > 0) console.log(`SKIPPED: tests that need the Debian packages ${missing.join(', ')}`);
  return missing.length === 0 || process.env.CI !== 'true';
}

function listed() {
  const text = readFileSync(new URL('debian-packages.txt', import.meta.url), 'utf8');
  return text.split('\n').filter((line) => line !== '' && !line.startsWith('#'));
}

function missingOf(packages) {
  return packages.filter((name) => {
    const { status, stdout } = spawnSync('dpkg-query', ['-W', '-f=${db:Status-Status}', name], {
      encoding: 'utf8',
    });
    return status !== 0 || stdout !== 'installed';
  });
}

function mayInstall() {
  return process.getuid?.() === 0 && spawnSync('apt-get', ['--version']).status === 0;
}

function install(packages) {
  console.log(`installing ${packages.join(', ')}`);
  const env = { ...process.env, DEBIAN_FRONTEND: 'noninteractive' };
  for (const args of [['update'], ['install', '-y', '--no-install-recommends', ...packages]]) {
    spawnSync('apt-get', ['-q', ...args], { env, stdio: 'inherit' });
  }
}
