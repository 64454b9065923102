// Writes that wait at the same time share one transaction, because a commit costs as much as all that stands in it.
//
//   put ─▶ waiting ─▶ the end of this turn of the event loop ─▶ all together ─▶ each gets its answer
//                                                                   └ failed: nothing is kept ─▶ each by itself
//
// So none suffers for another: what fails alone fails with its own error, and what does not is done.

/** A transaction is one stretch in which nothing else happens in this process, so it must end. */
const MOST_TOGETHER = 64;

/** `isOfOne`: nothing was kept, and the others may do well without the one that failed. */
export type Written<Answer> =
  | { readonly kind: 'done'; readonly answers: readonly Answer[] }
  | { readonly kind: 'failed'; readonly error: unknown; readonly isOfOne: boolean };

interface Waiting<Write, Answer> {
  readonly write: Write;
  resolve(answer: Answer): void;
  reject(error: unknown): void;
}

export class WriteQueue<Write, Answer> {
  readonly #together: (writes: readonly Write[]) => Written<Answer>;
  #waiting: Waiting<Write, Answer>[] = [];

  constructor(together: (writes: readonly Write[]) => Written<Answer>) {
    this.#together = together;
  }

  put(write: Write): Promise<Answer> {
    return new Promise((resolve, reject) => {
      if (this.#waiting.length === 0) setImmediate(() => this.#next());
      this.#waiting.push({ write, resolve, reject });
    });
  }

  /** Leaves nobody waiting. */
  flush(): void {
    while (this.#waiting.length > 0) this.#write(this.#waiting.splice(0, MOST_TOGETHER));
  }

  #next(): void {
    const writes = this.#waiting.splice(0, MOST_TOGETHER);
    if (this.#waiting.length > 0) setImmediate(() => this.#next());
    this.#write(writes);
  }

  #write(waiting: readonly Waiting<Write, Answer>[]): void {
    const written = this.#together(waiting.map(({ write }) => write));
    if (written.kind === 'done') {
      for (const [i, { resolve }] of waiting.entries()) resolve(written.answers[i]!);
    } else if (waiting.length > 1 && written.isOfOne) {
      for (const each of waiting) this.#write([each]);
    } else {
      for (const { reject } of waiting) reject(written.error);
    }
  }
}
