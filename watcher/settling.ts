// What happened where, until it is looked at: a path is taken once it has been quiet long enough to be whole.
//
//   touched ──▶ waiting ──quiet──▶ taken, to be looked at
//      ▲           │
//      └───────────┘ touched again
//
// A file that was only named, by a rename or a link, is taken at once: whether it came whole is for its stamp to say.

import type { Stamp } from '../host/disk.ts';

/** `named`: a name came, went or changed hands. `written`: what is behind the name changed. */
export type Happened = 'named' | 'written';

export interface SettlingOptions {
  readonly settleMs: number;
  /** Monotonic. */
  readonly nowMs: () => number;
  /** Of the clock that files are stamped by. */
  readonly dateMs: () => number;
}

interface Touch {
  atMs: number;
  /** The longest pause between two writes of this episode: who pauses that long may do so again. */
  pauseMs: number;
  isOnlyNamed: boolean;
}

/** Some 20 MB of them, as when nobody looks for long while much happens. */
const MOST_TOUCHES = 100_000;
const PATIENCE = 2;
const MOST_PATIENCE = 8;

export class Settling {
  readonly #options: SettlingOptions;
  /** In the order of the last touch, so that the first to settle is among the first. */
  readonly #touches = new Map<string, Touch>();
  #isFlooded = false;
  /** To be looked at now. */
  readonly #now = new Set<string>();
  /** When something last happened below a directory. */
  readonly #below = new Map<string, number>();

  constructor(options: SettlingOptions) {
    this.#options = options;
  }

  touched(path: string, how: Happened = 'written'): void {
    const { settleMs } = this.#options;
    if (this.size >= MOST_TOUCHES) this.#flood();
    if (settleMs === 0) {
      this.#now.add(path);
      return;
    }
    const atMs = this.#options.nowMs();
    const before = this.#touches.get(path);
    this.#touches.delete(path);
    const pauseMs = before === undefined ? 0 : Math.max(before.pauseMs, atMs - before.atMs);
    const isOnlyNamed = how === 'named' && before?.isOnlyNamed !== false;
    this.#touches.set(path, { atMs, pauseMs, isOnlyNamed });
    if (isOnlyNamed && before === undefined) this.#now.add(path);
    for (let end = path.lastIndexOf('/'); end > 0; end = path.lastIndexOf('/', end - 1)) {
      const directory = path.slice(0, end);
      if (this.#below.get(directory) === atMs) break;
      this.#below.set(directory, atMs);
    }
  }

  /** To be looked at whether or not it is quiet. */
  hurry(path: string): void {
    this.#now.add(path);
  }

  /** `stamp` is null where nothing is. A stamp counts too: of what happened before anybody watched there was no event. */
  isSettled(path: string, stamp: Stamp | null): boolean {
    if (this.#options.settleMs === 0) return true;
    // Only a directory is judged by what happens below it.
    if (stamp?.kind === 'directory' && this.#isBusyBelow(path)) return false;
    const touch = this.#touches.get(path);
    if (touch !== undefined) return this.#isQuiet(touch) || (touch.isOnlyNamed && isRenamed(stamp));
    return stamp === null || stamp.kind === 'directory' || this.#isOldEnough(path, stamp);
  }

  /** Those that have settled; they are forgotten here, for they are about to be looked at. */
  take(): string[] {
    this.#isFlooded = false;
    const taken = new Set(this.#now);
    this.#now.clear();
    for (const [path, touch] of this.#touches) {
      if (!this.#isPast(touch.atMs + this.#options.settleMs)) break;
      if (!this.#isQuiet(touch)) continue;
      this.#touches.delete(path);
      taken.add(path);
    }
    if (this.#touches.size === 0) this.#below.clear();
    return [...taken];
  }

  /** How many would be looked at one by one. */
  get size(): number {
    return this.#touches.size + this.#now.size;
  }

  /** So much happened that where it did was not kept: only looking at everything tells. */
  get isFlooded(): boolean {
    return this.#isFlooded;
  }

  /** How long until the next of them is to be looked at; null if there is none. */
  waitMs(): number | null {
    if (this.#now.size > 0 || this.#isFlooded) return 0;
    let earliestMs = Number.POSITIVE_INFINITY;
    for (const touch of this.#touches.values()) {
      const quietMs = touch.atMs + this.#options.settleMs;
      if (quietMs >= earliestMs) break;
      earliestMs = Math.min(earliestMs, touch.atMs + this.#neededMs(touch));
      if (this.#neededMs(touch) === this.#options.settleMs) break;
    }
    return earliestMs === Number.POSITIVE_INFINITY ? null : Math.max(0, earliestMs - this.#options.nowMs());
  }

  /** What is still being written is then told by its stamp alone. */
  #flood(): void {
    this.#isFlooded = true;
    for (const all of [this.#touches, this.#now, this.#below]) all.clear();
  }

  #isQuiet(touch: Touch): boolean {
    return this.#isPast(touch.atMs + this.#neededMs(touch));
  }

  #neededMs({ pauseMs }: Touch): number {
    const { settleMs } = this.#options;
    return Math.min(MOST_PATIENCE * settleMs, Math.max(settleMs, PATIENCE * pauseMs));
  }

  #isPast(ms: number): boolean {
    return ms <= this.#options.nowMs();
  }

  #isBusyBelow(directory: string): boolean {
    const atMs = this.#below.get(directory);
    if (atMs === undefined || this.#isPast(atMs + this.#options.settleMs)) return false;
    this.#wait(directory, atMs);
    return true;
  }

  #isOldEnough(path: string, stamp: Stamp): boolean {
    const { settleMs, dateMs, nowMs } = this.#options;
    const ageMs = dateMs() - Number(stamp.mtimeNs / 1_000_000n);
    // A time to come is somebody's wrong clock, and would never pass.
    if (ageMs < 0 || ageMs >= settleMs) return true;
    this.#wait(path, nowMs() - ageMs);
    return false;
  }

  /** Nothing will tell when it has settled, so it is taken when it should have. */
  #wait(path: string, atMs: number): void {
    this.#touches.set(path, { atMs, pauseMs: 0, isOnlyNamed: false });
  }
}

/**
 * Whether a file was whole before it got this name: a rename and a link stamp the change of the name alone, while
 * writing stamps both. Written and renamed within one tick of the clock it looks like written here, and is waited for.
 */
function isRenamed(stamp: Stamp | null): boolean {
  return stamp !== null && stamp.kind === 'file' && stamp.mtimeNs < stamp.ctimeNs;
}
