// Looks at the files of one target for a control plane that may be away: what matters is asked again and again, and
// what was not told is told when it is back.
//
// There is no spool of observations. What the control plane was told is kept on disk (watcher/reported.ts), and what
// differs from it is found by looking: that is newest per path by its nature, survives every crash, and cannot grow.
// What a spool would hold beyond that, files that came and went while nobody heard, is nothing to act on any more.
// Between paths no order is promised by anybody: events of different directories come as they like, and each state is
// decided by what its own paths are.

import { mkdirSync } from 'node:fs';
import { join } from 'node:path';
import { setTimeout as pause } from 'node:timers/promises';
import { loadBlake3 } from '../../host/blake3.ts';
import { answerOf, type Client } from '../../host/client.ts';
import { ignoreRule } from '../../host/ignore.ts';
import { createPathHasher } from '../../host/path-hash.ts';
import { type RootOption, rootPairOf, toHere } from '../../host/roots.ts';
import { StatCache } from '../../host/stat-cache.ts';
import { shown } from '../../schema/diagnostic.ts';
import { DirectoryWatches } from '../../watcher/directory-watches.ts';
import { Lookout } from '../../watcher/lookout.ts';
import { Reported } from '../../watcher/reported.ts';
import { Rounds } from '../../watcher/rounds.ts';
import { CliError } from '../command.ts';
import { isOfTheWorld } from '../refused.ts';

export interface WatchDaemonOptions {
  readonly client: Client;
  readonly api: string;
  readonly target: string;
  readonly watcher: string;
  readonly roots: readonly RootOption[];
  /** Where it keeps what it has told, and what it knows of files. */
  readonly own: string;
  readonly warn: (warning: string) => void;
  readonly say: (line: string) => void;
}

type WatchList = Awaited<ReturnType<WatchDaemon['ask']>>;
type Watched = WatchList['workflows'][number];

interface Kept {
  /** Of the list it was made from. */
  readonly mark: string;
  readonly lookout: Lookout;
}

const ASK_EVERY_MS = 2_000;
/** Last heard of is told as precisely as this by those who have nothing else to say. */
const TELL_EVERY_MS = 30_000;
/** What was hashed in this time is hashed again if the process is killed. */
const SAVE_EVERY_MS = 300_000;

export class WatchDaemon {
  readonly #options: WatchDaemonOptions;
  readonly #blake3 = loadBlake3();
  readonly #cache: StatCache;
  readonly #kept = new Map<string, Kept>();
  readonly #rounds: Rounds;
  readonly #stopping = new AbortController();
  #isAway = false;
  #toldAtMs = Number.NEGATIVE_INFINITY;
  #toldFacts = '';
  #savedAtMs = performance.now();

  constructor(options: WatchDaemonOptions) {
    this.#options = options;
    this.#cache = new StatCache({
      ...{ path: join(options.own, 'stat-cache'), hash: this.#blake3.hash, nowMs: Date.now },
    });
    this.#rounds = new Rounds({
      // While nobody hears what is seen, looking is of no use.
      lookouts: () => (this.#isAway ? [] : this.#lookouts()),
      news: () => {},
      failed: (_, error) => this.#wentAway(error),
    });
  }

  /** What matters on this target now. */
  ask() {
    const { client, target } = this.#options;
    return answerOf(client.api.watch.$get({ query: { target } }));
  }

  async run(first: WatchList): Promise<void> {
    const { own, say, target, api } = this.#options;
    this.#refuseUnknown(first);
    mkdirSync(own, { recursive: true });
    try {
      this.#follow(first);
      await this.#rounds.once();
      this.#cache.save();
      if (!this.#stopping.signal.aborted)
        say(`watching ${this.#names()} on ${shown(target)} for ${api}; end with Ctrl-C`);
      await Promise.all([this.#rounds.run(), this.#asking()]);
    } finally {
      for (const { lookout } of this.#kept.values()) lookout.close();
      this.#cache.save();
    }
  }

  /** What is being told may end; nothing else is begun. */
  stop(): void {
    this.#stopping.abort();
    this.#rounds.stop();
  }

  #lookouts(): Lookout[] {
    return [...this.#kept.values()].map(({ lookout }) => lookout);
  }

  #names(): string {
    return this.#lookouts()
      .map(({ standing: { workflow, root } }) => `${shown(workflow)} in ${shown(root)}`)
      .join(', ');
  }

  async #asking(): Promise<void> {
    const { signal } = this.#stopping;
    for (;;) {
      await pause(ASK_EVERY_MS, undefined, { signal }).catch(() => {});
      if (signal.aborted) return;
      try {
        const list = await this.ask();
        this.#cameBack();
        this.#follow(list);
        await this.#tellStanding();
      } catch (error) {
        this.#wentAway(error);
      }
      if (performance.now() - this.#savedAtMs > SAVE_EVERY_MS) {
        this.#cache.save();
        this.#savedAtMs = performance.now();
      }
    }
  }

  /** Takes up what is new or different, and lets go of what no longer matters here. */
  #follow({ database, workflows }: WatchList): void {
    const { say } = this.#options;
    const wanted = new Map(workflows.map((each) => [each.workflow, each]));
    for (const [name, { lookout }] of this.#kept) {
      if (wanted.has(name)) continue;
      lookout.close();
      this.#kept.delete(name);
      say(`${shown(name)} has nothing on this machine any more`);
    }
    for (const [name, watched] of wanted) {
      const mark = JSON.stringify([database, watched]);
      const before = this.#kept.get(name);
      if (before?.mark === mark) continue;
      before?.lookout.close();
      this.#kept.set(name, { mark, lookout: this.#open(database, watched) });
      if (before !== undefined) say(`${shown(name)} has changed and is looked at anew`);
    }
    this.#rounds.wake();
  }

  #open(database: number, watched: Watched): Lookout {
    const { client, target, watcher, own, warn, roots, say } = this.#options;
    const { workflow, definition, root, settle_ms, scan_interval_ms, poll, sentinel } = watched;
    const pair = rootPairOf(workflow, root, roots);
    let lookout: Lookout | null = null;
    const watches = new DirectoryWatches({
      ...{ warn, root: pair.here },
      changed: (path, how) => {
        lookout?.hinted(path, how);
        this.#rounds.wake();
      },
    });
    const ignore = ignoreRule(watched.ignore);
    const { disk } = watches;
    const hasher = createPathHasher({
      ...{ blake3: this.#blake3, cache: this.#cache, nowMs: Date.now, ignore, disk },
    });
    const reported = new Reported(join(own, 'reported', encodeURIComponent(workflow)), {
      database,
      definition,
    });
    lookout = new Lookout({
      ...{ workflow, watches, warn, poll, sentinel, settleMs: settle_ms, scanIntervalMs: scan_interval_ms },
      patterns: watched.patterns.map((each) => ({ ...each, pattern: toHere(each.pattern, pair) })),
      context: {
        ...{ client, target, watcher, root: pair.here, ignore, hasher, reported, disk, roots: pair },
        facts: () => this.#facts(),
        progress: (found) => say(`${shown(workflow)}: ${found.toLocaleString('en')} files looked at so far`),
      },
    });
    return lookout;
  }

  #facts() {
    return { roots: this.#lookouts().map(({ standing }) => standing) };
  }

  /** That it is there, and how its places stand, even if nothing happens to them. */
  async #tellStanding(): Promise<void> {
    const { client, target, watcher } = this.#options;
    const facts = this.#facts();
    const told = JSON.stringify(facts);
    if (told === this.#toldFacts && performance.now() - this.#toldAtMs < TELL_EVERY_MS) return;
    await answerOf(client.api.observations.$post({ json: { target, watcher, facts, observations: [] } }));
    this.#toldFacts = told;
    this.#toldAtMs = performance.now();
  }

  #wentAway(error: unknown): void {
    if (!isOfTheWorld(error)) throw error;
    if (this.#isAway) return;
    this.#isAway = true;
    const { message, hint } = error as Error & { hint?: string };
    const next = hint === undefined ? '' : `; ${hint}`;
    this.#options.warn(`${message}; what changes meanwhile is told when the control plane is back${next}`);
  }

  #cameBack(): void {
    if (!this.#isAway) return;
    this.#isAway = false;
    for (const lookout of this.#lookouts()) lookout.distrust();
    this.#options.say('the control plane is back; what changed meanwhile is told now');
  }

  #refuseUnknown({ workflows }: WatchList): void {
    const { target, api, roots } = this.#options;
    if (workflows.length === 0) {
      throw new CliError({
        code: 'unknown-target',
        message: `no workflow on ${api} has anything on the target ${shown(target)}`,
        hint: 'name another with --target, or register one that does: sluice push FILE --target T',
      });
    }
    for (const { workflow } of roots) {
      if (workflow === null || workflows.some((each) => each.workflow === workflow)) continue;
      const known = workflows.map((each) => shown(each.workflow)).slice(0, 10);
      throw new CliError({
        code: 'unknown-workflow',
        message: `--root names the workflow ${shown(workflow)}, which has nothing on the target ${shown(target)}`,
        hint: `those that have are ${known.join(', ')}`,
      });
    }
  }
}
