// Looks at one workflow's files on this machine and tells the control plane what is new: at a path soon after something
// happened to it, at everything now and then, for events are hints and only looking is the truth.

import type { Disk, Stamp } from '../host/disk.ts';
import type { Observation, WatchedRoot } from '../schema/wire.ts';
import type { DirectoryWatches } from './directory-watches.ts';
import { LookTimes } from './look-times.ts';
import { type Report, type ReportContext, reportAt, send } from './report.ts';
import type { Found } from './scan.ts';
import { Sentinel } from './sentinel.ts';
import { type Happened, Settling } from './settling.ts';
import { type LookedFor, type Place, Sight } from './sight.ts';
import { silentPlaces } from './silent-places.ts';

export interface LookoutOptions {
  readonly workflow: string;
  readonly patterns: readonly LookedFor[];
  readonly settleMs: number;
  readonly scanIntervalMs: number;
  readonly poll: 'auto' | boolean;
  readonly sentinel: string | null;
  readonly context: Omit<ReportContext, 'isSettled'>;
  /** Its disk is the context's. */
  readonly watches: DirectoryWatches;
  readonly warn: (warning: string) => void;
  /** After a look that brought something, and after every look at everything; before anybody acts on it. */
  readonly looked?: () => Promise<void>;
}

const EVERYWHERE = ['/'];

export class Lookout {
  readonly workflow: string;
  readonly #options: LookoutOptions;
  readonly #context: ReportContext;
  readonly #sight: Sight;
  readonly #settling: Settling;
  readonly #sentinel: Sentinel | null;
  readonly #times: LookTimes;
  readonly #told = new Set<string>();
  #problems: Report['problems'] = [];
  #isSilent = false;
  /** Which directory the root was when it was last seen. */
  #root: string | null = null;
  #isProbed = false;

  constructor(options: LookoutOptions) {
    const { context, patterns, settleMs, scanIntervalMs, sentinel } = options;
    const nowMs = () => performance.now();
    this.workflow = options.workflow;
    this.#options = options;
    this.#sight = new Sight(patterns, context);
    this.#settling = new Settling({ settleMs, nowMs, dateMs: Date.now });
    this.#sentinel = sentinel === null ? null : new Sentinel(sentinel, context.disk);
    this.#times = new LookTimes({ scanIntervalMs, nowMs });
    this.#context = { ...context, isSettled: (path, stamp, found) => this.#isSettled(path, stamp, found) };
  }

  /** Something happened there, or may have. */
  hinted(path: string, how: Happened = 'written'): void {
    this.#settling.touched(path, how);
    const waiting = this.#sentinel?.waitingFor(path);
    if (waiting !== undefined) this.#settling.hurry(waiting);
  }

  /** Nothing that was seen counts any more, as after the machine slept. */
  distrust(): void {
    this.#times.askWhole();
  }

  /** Of a root that is unmounted, moved or replaced no event tells. */
  checkRoot(): void {
    const { root, disk } = this.#context;
    const identity = identityOf(root, disk);
    if (this.#root === identity) return;
    if (this.#root !== null) {
      this.#options.watches.forget(root);
      this.distrust();
    }
    this.#root = identity;
  }

  get dueInMs(): number {
    return this.#times.dueInMs(this.#hints());
  }

  /** How many observations were sent. */
  async look(): Promise<number> {
    const kind = this.#times.kindNow(this.#hints());
    const hinted = this.#settling.take();
    this.#times.begun(kind);
    const begun = performance.now();
    try {
      const report = await reportAt(kind === 'whole' ? EVERYWHERE : hinted, this.#sight, this.#context);
      this.#context.reported.save();
      this.#times.ended(kind, performance.now() - begun);
      this.#tellProblems(report.problems, kind === 'whole');
      if (kind === 'whole') this.#probe();
      if (kind === 'whole' || report.sent > 0) await this.#options.looked?.();
      return report.sent;
    } catch (error) {
      this.#times.failed();
      throw error;
    }
  }

  /** What its files are, told by who has just made them. */
  took(observations: readonly Observation[]): void {
    for (const each of observations) this.#context.reported.took(each);
  }

  observe(observations: readonly Observation[]): Promise<void> {
    return send(observations, this.#context);
  }

  /** What cannot be looked at now. */
  get problems(): Report['problems'] {
    return this.#problems;
  }

  /** Whether nothing tells when something happens, or the workflow does not want to rely on it. */
  get polls(): boolean {
    return this.#options.poll === true || this.#options.watches.isExhausted || this.#isSilent;
  }

  /** As told to those who ask how it stands. */
  get standing(): WatchedRoot {
    const [first] = this.#problems;
    const more = this.#problems.length > 1 ? `, and ${this.#problems.length - 1} more` : '';
    return {
      ...{ workflow: this.workflow, root: this.#context.root },
      state: first !== undefined ? 'troubled' : this.polls ? 'polled' : 'watched',
      problem: first === undefined ? null : `${first.path}: ${first.reason}${more}`.slice(0, 1_000),
    };
  }

  close(): void {
    this.#options.watches.close();
    this.#context.reported.save();
  }

  #hints() {
    // Nothing tells when a disk is mounted again.
    const polls = this.polls || this.#problems.length > 0;
    return {
      waitMs: this.#settling.waitMs(),
      count: this.#settling.isFlooded ? Number.POSITIVE_INFINITY : this.#settling.size,
      polls,
    };
  }

  #isSettled(path: string, stamp: Stamp | null, found: Found | null): boolean {
    if (this.#sentinel !== null && stamp !== null && this.#isDropped(found))
      return this.#sentinel.allows(path, found);
    return this.#settling.isSettled(path, stamp);
  }

  /** What makes entities, unless a stage makes it: of those files somebody has to say that they are whole. */
  #isDropped(found: Found | null): boolean {
    if (found === null) return true;
    const places = found.matches.map(({ pattern }) => this.#sight.places[pattern]!);
    return places.some(({ pattern }) => pattern.variables.length > 0) && places.every(isRead);
  }

  #tellProblems(problems: Report['problems'], isAll: boolean): void {
    if (isAll) this.#problems = problems;
    for (const { path, reason } of problems) {
      const warning = `${path}: ${reason}; what is known of it stays until it can be looked at`;
      if (this.#told.has(warning)) continue;
      this.#told.add(warning);
      this.#options.warn(warning);
    }
    if (!isAll) return;
    // Told once more if it comes back.
    const current = new Set(problems.map(({ path }) => path));
    for (const warning of this.#told) if (!current.has(warning.split(': ')[0]!)) this.#told.delete(warning);
  }

  /** Once it is known which directories there are. */
  #probe(): void {
    const { poll, watches, warn } = this.#options;
    if (this.#isProbed || poll !== 'auto') return;
    this.#isProbed = true;
    void silentPlaces(watches.directories()).then((silent) => {
      for (const { directory, reason } of silent)
        warn(
          `${directory}: ${reason}, so it is looked at every few seconds; \`watch: {poll: false}\` relies on events`,
        );
      this.#isSilent = silent.length > 0;
    });
  }
}

function isRead({ role }: Place): boolean {
  return role === 'dep' || role === 'source';
}

function identityOf(root: string, disk: Disk): string {
  try {
    const stamp = disk.stat(root);
    return stamp === null ? 'nothing' : `${stamp.dev} ${stamp.ino}`;
  } catch {
    return 'unreadable';
  }
}
