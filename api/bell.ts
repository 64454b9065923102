// Lets a request wait for something to happen in this process, and looks again anyway after a while.
//
// What another process does rings no bell here, so whoever waits also looks at the database, at most twenty times
// per request: more a Worker may not.

export const MOST_LOOKS = 20;

export class Bell {
  #waiting = new Set<() => void>();

  ring(): void {
    const waiting = [...this.#waiting];
    this.#waiting.clear();
    for (const wake of waiting) wake();
  }

  /** Resolves when it rings, when the time is up, or when nobody wants to know any more. */
  wait(ms: number, signal?: AbortSignal): Promise<void> {
    if (signal?.aborted) return Promise.resolve();
    return new Promise((resolve) => {
      const wake = () => {
        clearTimeout(timer);
        signal?.removeEventListener('abort', wake);
        this.#waiting.delete(wake);
        resolve();
      };
      const timer = setTimeout(wake, ms);
      signal?.addEventListener('abort', wake);
      this.#waiting.add(wake);
    });
  }
}
