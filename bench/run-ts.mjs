// Runs a bench written in TypeScript: bundled as the program itself is, so that what is measured is what ships.
//
//   node bench/run-ts.mjs bench/control-plane.ts --quick

import { spawnSync } from 'node:child_process';
import { mkdirSync, readFileSync, rmSync } from 'node:fs';
import { basename, dirname, join } from 'node:path';
import { fileURLToPath, pathToFileURL } from 'node:url';
import { build } from 'esbuild';
import { buildIfStale } from '../build.mjs';

const ROOT = dirname(dirname(fileURLToPath(import.meta.url)));
const [entry, ...args] = process.argv.slice(2);
// Inside node_modules, so that what is not bundled is found.
const folder = join(ROOT, 'node_modules/.cache', `sluice-bench-${process.pid}`);
const outfile = join(folder, `${basename(entry, '.ts')}.mjs`);
mkdirSync(folder, { recursive: true });
try {
  await buildIfStale();
  await build({
    absWorkingDir: ROOT,
    entryPoints: [entry],
    outfile,
    bundle: true,
    format: 'esm',
    platform: 'node',
    target: 'node20',
    external: ['libsql', '@napi-rs/blake-hash', 'blake3-wasm', 'miniflare', 'esbuild'],
    alias: {
      yaml: join(ROOT, 'node_modules/yaml/browser/dist/index.js'),
      '@libsql/isomorphic-ws': join(ROOT, 'node_modules/@libsql/isomorphic-ws/web.mjs'),
    },
    define: { SLUICE_VERSION: '"0.0.0-bench"' },
    plugins: [{ name: 'own place', setup: keepOwnPlace }],
    logLevel: 'warning',
  });
  const { status, signal } = spawnSync(process.execPath, [outfile, ...args], { cwd: ROOT, stdio: 'inherit' });
  process.exitCode = signal === null ? status : 1;
} finally {
  rmSync(folder, { recursive: true, force: true });
}

/** A file that looks for others beside it (the rigs do) finds them there, not beside the bundle. */
function keepOwnPlace({ onLoad }) {
  onLoad({ filter: /\/test\/rig\/.*\.ts$/ }, ({ path }) => ({
    contents: readFileSync(path, 'utf8').replaceAll(
      'import.meta.url',
      JSON.stringify(pathToFileURL(path).href),
    ),
    loader: 'ts',
  }));
}
