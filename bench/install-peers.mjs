// `npm run bench:peers`: installs what the benches compare with, where that is permitted.

import { spawnSync } from 'node:child_process';
import { mkdirSync, writeFileSync } from 'node:fs';
import { fileURLToPath } from 'node:url';

const PACKAGES = {
  make: 'make',
  ninja: 'ninja-build',
  snakemake: 'snakemake',
  tup: 'tup fuse3',
  parallel: 'parallel',
  b3sum: 'b3sum',
  inotifywait: 'inotify-tools',
  '/usr/bin/time': 'time',
};
/** In a folder of their own: nothing that the program needs, or that a test may import by mistake. */
const FROM_NPM = ['wireit@0.14.13', 'turbo@2.11.11'];
const isThere = (program) => spawnSync('sh', ['-c', `command -v ${program}`]).status === 0;
const missing = Object.keys(PACKAGES).filter((program) => !isThere(program));

if (missing.length === 0) console.log('all peers are installed');
else if (process.getuid?.() !== 0 || !isThere('apt-get'))
  console.log(
    `missing: ${missing.join(', ')}; install ${missing.map((name) => PACKAGES[name]).join(' ')} yourself`,
  );
else {
  spawnSync('apt-get', ['update', '-q'], { stdio: 'inherit' });
  for (const name of missing) {
    const { status } = spawnSync(
      'apt-get',
      ['install', '-qy', '--no-install-recommends', ...PACKAGES[name].split(' ')],
      {
        stdio: 'inherit',
        env: { ...process.env, DEBIAN_FRONTEND: 'noninteractive' },
      },
    );
    console.log(status === 0 ? `installed ${name}` : `could not install ${name}`);
  }
}

const folder = fileURLToPath(new URL('.peers', import.meta.url));
mkdirSync(folder, { recursive: true });
writeFileSync(`${folder}/package.json`, '{ "private": true }\n');
const { status } = spawnSync('npm', ['install', '--no-audit', '--no-fund', '--ignore-scripts', ...FROM_NPM], {
  cwd: folder,
  stdio: 'inherit',
});
console.log(`${status === 0 ? 'installed' : 'could not install'} ${FROM_NPM.join(' and ')}`);
