// Tells the owner of a project what is on disk now, so that a run is about what its caller sees, whatever the owner's
// watcher still holds back.

import { existsSync } from 'node:fs';
import { dirname, join } from 'node:path';
import { loadBlake3 } from '../../../host/blake3.ts';
import { answerOf, type Client } from '../../../host/client.ts';
import { DISK } from '../../../host/disk.ts';
import { type IgnoreRule, ignoreRule } from '../../../host/ignore.ts';
import { createPathHasher } from '../../../host/path-hash.ts';
import { StatCache } from '../../../host/stat-cache.ts';
import { stateFiles } from '../../../runner/state-files.ts';
import type { EntityId } from '../../../schema/words.ts';
import { reportAll, send } from '../../../watcher/report.ts';
import { Reported } from '../../../watcher/reported.ts';
import { scan } from '../../../watcher/scan.ts';
import { stemOf } from '../../load-file.ts';
import { remembered } from '../../look/check-stale.ts';
import { Ask } from '../ask.ts';
import { RUNNER, refuseUnusable, TARGET } from '../look.ts';
import { fileNameFor } from '../machine.ts';
import type { OwnedRequest } from '../run-parts.ts';

export async function tellDisk({ loaded, project, own }: OwnedRequest, client: Client): Promise<void> {
  const { workflow, path } = loaded;
  const { workflows } = await answerOf(client.api.watch.$get({ query: { target: TARGET } }));
  const mine = workflows.find((each) => each.workflow === workflow.name);
  if (mine === undefined) return;
  const blake3 = loadBlake3();
  const ignore = ignoreRule([
    ...workflow.watch.ignore,
    ...[`${stemOf(path)}.lock.yaml`, `${stemOf(path)}.events.jsonl`],
  ]);
  // The owner's memory is read and not written: it is the owner's.
  const cache = new StatCache({ path: join(own, 'stat-cache'), hash: blake3.hash, nowMs: Date.now });
  const file = join(own, 'reported', fileNameFor(project, path));
  const context = {
    ...{ client, target: TARGET, watcher: RUNNER, root: dirname(path), ignore, disk: DISK },
    hasher: createPathHasher({ blake3, cache, nowMs: Date.now, ignore }),
    // What the owner has told since it last wrote that down is not known here: everything is said again.
    reported: new Reported(file, { database: -1, definition: '' }),
  };
  const { problems } = await reportAll(mine.patterns, context);
  refuseUnusable(problems);
  const gone = await goneOf({ loaded, client, ignore });
  await send(
    gone.map((each) => ({ path: each, gone: true as const })),
    context,
  );
}

interface Known {
  readonly loaded: OwnedRequest['loaded'];
  readonly client: Client;
  readonly ignore: IgnoreRule;
}

/** What the states that the owner knows of read and make, and is not there. */
async function goneOf({ loaded, client, ignore }: Known): Promise<readonly string[]> {
  const { workflow, path } = loaded;
  const root = dirname(path);
  const list = remembered((pattern) =>
    scan({ patterns: [pattern], root, ignore }).found.map(({ path: found }) => found),
  );
  const stages = new Map(workflow.stages.map((stage) => [stage.id as string, stage]));
  const paths = new Set<string>();
  for (const { stage: id, entity } of await new Ask(client, workflow.name).states({})) {
    const stage = stages.get(id);
    if (stage === undefined || stage.kind === 'source') continue;
    const { inputs, outs } = stateFiles(stage, entity as EntityId, { workflow, root, list });
    for (const input of inputs) for (const each of input.paths) paths.add(each);
    for (const { path: out, remote } of outs) if (remote === null) paths.add(out);
  }
  return [...paths].filter((each) => each.startsWith('/') && !existsSync(each));
}
