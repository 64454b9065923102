// Bundles the sources into dist/. `node build.mjs` always builds; `--if-stale` only if dist/ is not up to date.
//
// A program started while this runs sees either the old build or the new one, whole: chunks are named by
// their content and moved in first, the entries that import them are moved last, each in one rename.

import { mkdirSync, readdirSync, readFileSync, renameSync, rmSync, writeFileSync } from 'node:fs';
import { basename, dirname, join, relative } from 'node:path';
import { fileURLToPath } from 'node:url';
import { withBuildLock } from './tools/build-lock.mjs';
import { isFresh, MANIFEST, readManifest, stampOf } from './tools/freshness.mjs';

const ROOT = dirname(fileURLToPath(import.meta.url));
const DIST = join(ROOT, 'dist');

/** One per program: what is added here is built, moved in and swept with the rest. */
const BUNDLES = [
  {
    entryPoints: { sluice: 'cli/main.ts', 'clean-rest': 'host/clean-rest.ts' },
    platform: 'node',
    target: 'node20',
    splitting: true,
    // Native, or looking for its .wasm beside its own file.
    external: ['libsql', '@napi-rs/blake-hash', 'blake3-wasm'],
    // What is CommonJS for Node would need `require`; for browsers the same code is there as ESM. Of the WebSocket
    // that a database client could use we use nothing: all goes over HTTP.
    alias: {
      yaml: join(ROOT, 'node_modules/yaml/browser/dist/index.js'),
      '@libsql/isomorphic-ws': join(ROOT, 'node_modules/@libsql/isomorphic-ws/web.mjs'),
    },
  },
  {
    // What `wrangler deploy` uploads, and what the tests run in workerd.
    entryPoints: { 'worker/worker': 'api/worker.ts' },
    target: 'es2024',
    conditions: ['workerd', 'worker', 'browser'],
    // Copied and still imported, so that workerd gets it as a module of its own: it compiles none at run time.
    loader: { '.wasm': 'copy' },
    // Without a hash in its name: what lies in that folder is uploaded, so nothing old may stay there.
    assetNames: 'worker/[name]',
    alias: { yaml: join(ROOT, 'node_modules/yaml/browser/dist/index.js') },
    minify: true,
  },
];

export function build() {
  return withBuildLock(DIST, buildAlone);
}

export async function buildIfStale() {
  if (isFresh(ROOT)) return;
  await withBuildLock(DIST, async () => {
    // Whoever held the lock before us has probably just built.
    if (!isFresh(ROOT)) await buildAlone();
  });
}

async function buildAlone() {
  const scratch = join(DIST, `tmp-${process.pid}`);
  // Taken before anything is read: what is edited meanwhile makes this build stale, not falsely fresh.
  const stamp = stampOf(ROOT);
  try {
    await bundleInto(scratch);
    moveIn(scratch, stamp);
  } finally {
    rmSync(scratch, { recursive: true, force: true });
  }
}

async function bundleInto(scratch) {
  const esbuild = await import('esbuild');
  const { version } = JSON.parse(readFileSync(join(ROOT, 'package.json'), 'utf8'));
  const shared = {
    absWorkingDir: ROOT,
    outdir: scratch,
    bundle: true,
    format: 'esm',
    charset: 'utf8',
    chunkNames: 'chunks/[name]-[hash]',
    define: { SLUICE_VERSION: JSON.stringify(version) },
    logLevel: 'silent',
  };
  await Promise.all(BUNDLES.map((bundle) => esbuild.build({ ...shared, ...bundle })));
}

function moveIn(scratch, stamp) {
  const previous = readManifest(ROOT)?.files ?? [];
  const files = filesIn(scratch);
  const isChunk = (file) => dirname(file) === 'chunks';
  for (const file of files.filter(isChunk)) move(scratch, file);
  for (const file of files.filter((file) => !isChunk(file))) move(scratch, file);
  writeFileSync(join(scratch, MANIFEST), JSON.stringify({ stamp, files }));
  move(scratch, MANIFEST);
  // The previous build's files stay until the next one, for programs that started on it and load a chunk later.
  const keep = new Set([...files, ...previous]);
  for (const file of filesIn(join(DIST, 'chunks'))) {
    if (!keep.has(join('chunks', file))) rmSync(join(DIST, 'chunks', file), { force: true });
  }
}

function filesIn(directory) {
  return readdirSync(directory, { recursive: true, withFileTypes: true })
    .filter((entry) => entry.isFile())
    .map((entry) => relative(directory, join(entry.parentPath, entry.name)));
}

function move(scratch, file) {
  const to = join(DIST, file);
  mkdirSync(dirname(to), { recursive: true });
  renameSync(join(scratch, file), to);
}

if (basename(process.argv[1] ?? '') === 'build.mjs') {
  const work = process.argv.includes('--if-stale') ? buildIfStale() : build();
  await work.catch((error) => {
    console.error(error.message);
    process.exitCode = 1;
  });
}
