// Which paths may still be being written: those at or below which something happened a moment ago.

import type { Stamp } from '../host/disk.ts';

export class Settling {
  readonly #settleMs: number;
  readonly #nowMs: () => number;
  readonly #lastMs = new Map<string, number>();

  constructor(settleMs: number, nowMs: () => number) {
    this.#settleMs = settleMs;
    this.#nowMs = nowMs;
  }

  touched(path: string): void {
    if (this.#settleMs > 0) this.#lastMs.set(path, this.#nowMs());
  }

  /** A stamp counts too: of what happened before anybody watched there was no event. */
  isSettled(path: string, stamp?: Stamp): boolean {
    if (this.#settleMs === 0) return true;
    const now = this.#nowMs();
    const writtenMs = stamp === undefined || stamp.kind !== 'file' ? 0 : Number(stamp.mtimeNs / 1_000_000n);
    // A time to come is somebody's wrong clock, and would never pass.
    if (writtenMs <= now && now - writtenMs < this.#settleMs && !this.#lastMs.has(path))
      this.#lastMs.set(path, writtenMs);
    if (this.#isRecent(path, now)) return false;
    // Only a directory is judged by what happens below it.
    if (stamp?.kind !== 'directory') return true;
    for (const touched of this.#lastMs.keys())
      if (touched.startsWith(`${path}/`) && this.#isRecent(touched, now)) return false;
    return true;
  }

  #isRecent(path: string, now: number): boolean {
    const atMs = this.#lastMs.get(path);
    if (atMs === undefined) return false;
    if (now - atMs < this.#settleMs) return true;
    this.#lastMs.delete(path);
    return false;
  }

  /** How long until the next of them has settled; null if all have. */
  waitMs(): number | null {
    const now = this.#nowMs();
    let earliest = Number.POSITIVE_INFINITY;
    for (const atMs of this.#lastMs.values()) earliest = Math.min(earliest, atMs);
    return earliest === Number.POSITIVE_INFINITY ? null : Math.max(0, earliest + this.#settleMs - now);
  }

  /** After a look: what has settled by now was looked at by it. */
  looked(begunMs: number): void {
    for (const [path, atMs] of this.#lastMs) if (atMs + this.#settleMs <= begunMs) this.#lastMs.delete(path);
  }
}
