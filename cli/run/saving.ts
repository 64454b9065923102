// Saves promptly what was made: at once after a quiet time, and at most five times a second when there is much.

const EVERY_MS = 200;

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
    this.now();
    this.#timer = setTimeout(() => {
      this.#timer = null;
      if (this.#isDue) this.soon();
    }, EVERY_MS);
    // The end of a run saves by itself and must not wait for this.
    this.#timer.unref();
  }

  now(): void {
    if (!this.#isDue) return;
    this.#isDue = false;
    this.#save();
  }
}
