// `npm run bench:peers`: installs what the benches compare with, where that is permitted.

import { spawnSync } from 'node:child_process';

const PACKAGES = {
  make: 'make',
  ninja: 'ninja-build',
  snakemake: 'snakemake',
  tup: 'tup fuse3',
  parallel: 'parallel',
  b3sum: 'b3sum',
  inotifywait: 'inotify-tools',
};
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
