// Saves promptly what was made: at once after a quiet time, at most five times a second when there is much, and never
// for more than a twentieth of the time, however large the file is.

const EVERY_MS = 200;
const TIMES_ITS_COST = 20;

export class Saving {
  readonly #save: () => void;
  #timer: NodeJS.Timeout | null = null;
  #isDue = false;

  constructor(save: () => void) {
    this.#save = save;
  }

  soon(): void {
    this.#isDue = true;
    if (this.#timer !== null) return;
    const begun = performance.now();
    this.now();
    const costMs = performance.now() - begun;
    this.#timer = setTimeout(
      () => {
        this.#timer = null;
        if (this.#isDue) this.soon();
      },
      Math.max(EVERY_MS, TIMES_ITS_COST * costMs),
    );
    // The end of a run saves by itself and must not wait for this.
    this.#timer.unref();
  }

  now(): void {
    if (!this.#isDue) return;
    this.#isDue = false;
    this.#save();
  }
}
