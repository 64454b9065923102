// A place on disk that is looked at, in this process, for a control plane in this process: what it believes can be
// compared with what is there.

import { readdirSync, statSync } from 'node:fs';
import { join } from 'node:path';
import { setTimeout as pause } from 'node:timers/promises';
import { onTestFinished } from 'vitest';
import { type Row, sql } from '../../api/store/database.ts';
import { WatchDaemon } from '../../cli/watch/watch-daemon.ts';
import { loadBlake3 } from '../../host/blake3.ts';
import { answerOf, createClient } from '../../host/client.ts';
import { ignoreRule } from '../../host/ignore.ts';
import { createPathHasher } from '../../host/path-hash.ts';
import { StatCache } from '../../host/stat-cache.ts';
import { temporaryFolder } from './cli.ts';
import { startInProcess } from './control-plane-shapes.ts';

/** Far more than it ever takes, on any machine. */
const PATIENCE = 6_000;

export async function watchedPlace(workflow: string, files: Readonly<Record<string, string>> = {}) {
  const root = temporaryFolder(files);
  const shape = await startInProcess();
  const posted: number[] = [];
  const fetch = (input: unknown, init?: RequestInit) => {
    const { pathname, search } = new URL(String(input));
    if (pathname === '/api/observations') posted.push(JSON.parse(String(init?.body)).observations.length);
    return shape.fetch(pathname + search, init);
  };
  const client = createClient({ url: 'http://sluice.local', fetch: fetch as typeof globalThis.fetch });
  await answerOf(
    client.api.workflows[':name{[^]+}'].$put(
      { param: { name: 'p' }, query: { root, target: 'local' } },
      { init: { body: workflow } },
    ),
  );
  const own = temporaryFolder();
  const warnings: string[] = [];
  let ready = () => {};
  const isReady = new Promise<void>((resolve) => {
    ready = resolve;
  });
  const daemon = new WatchDaemon({
    ...{ client, api: 'here', target: 'local', watcher: 'w', roots: [], own },
    warn: (warning) => void warnings.push(warning),
    say: ready,
  });
  const running = daemon.run(await daemon.ask());
  onTestFinished(async () => {
    daemon.stop();
    await running;
    await shape.stop();
  });
  await Promise.race([isReady, running]);
  const believed = async () => {
    const [found] = await shape.db.batch(
      [sql("SELECT path, 'blake3:' || lower(hex(hash)) AS hash FROM paths WHERE hash IS NOT NULL")],
      'read',
    );
    const rows = found!.rows as readonly Row[];
    return new Map(rows.map(({ path, hash }) => [String(path).slice(root.length + 1), String(hash)]));
  };
  return {
    ...{ root, warnings, believed, client, daemon },
    /** How many observations were sent. */
    told: () => posted.reduce((sum, each) => sum + each, 0),
    /** Until what is believed of the paths that `isOurs` is what is there; tells what is not if it never is. */
    agrees: async (isOurs: (path: string) => boolean) => {
      for (let asked = 0; asked < PATIENCE; asked++) {
        const [believes, there] = [await believed(), contentBelow(root, isOurs)];
        const wrong = [...there].filter(([path, hash]) => believes.get(path) !== hash).map(([path]) => path);
        const gone = [...believes.keys()].filter((path) => !there.has(path));
        if (wrong.length + gone.length === 0) return;
        if (asked === PATIENCE - 1) throw new Error(`not known: ${wrong}; not known to be gone: ${gone}`);
        await pause(10);
      }
    },
  };
}

/** As `find` and a hash of each file tell it, with nothing remembered. */
export function contentBelow(root: string, isOurs: (path: string) => boolean): Map<string, string> {
  const blake3 = loadBlake3();
  const cache = new StatCache({ path: join(root, 'none'), hash: blake3.hash, nowMs: () => 0 });
  const hasher = createPathHasher({ blake3, cache, nowMs: () => 0, ignore: ignoreRule() });
  const found = new Map<string, string>();
  for (const name of readdirSync(root, { recursive: true, encoding: 'utf8' })) {
    if (!isOurs(name) || statSync(join(root, name), { throwIfNoEntry: false }) === undefined) continue;
    const content = hasher.hashPath(join(root, name));
    if ('hash' in content) found.set(name, content.hash);
  }
  return found;
}
