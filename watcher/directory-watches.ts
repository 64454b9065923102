// One watch per directory that is looked into, taken before it is listed, so that nothing can fall between the two.
//
// A watch per file, as libraries take it, costs 9 s and 900 MB at 100,000 files; one per directory next to nothing.

import { type FSWatcher, watch as watchDirectory } from 'node:fs';
import { basename, dirname, join } from 'node:path';
import { DISK, type Disk } from '../host/disk.ts';
import type { Happened } from './settling.ts';

export interface DirectoryWatchesOptions {
  /** A hint: something happened at this absolute path. */
  readonly changed: (path: string, how: Happened) => void;
  readonly warn: (warning: string) => void;
  /** What lies on the way from here to a directory that is listed is watched too: it may be replaced. */
  readonly root?: string;
  readonly watch?: (
    directory: string,
    happened: (type: string, name: string | null) => void,
  ) => Pick<FSWatcher, 'close' | 'on'>;
}

export class DirectoryWatches {
  /** Looks at the real disk, and watches every directory that is listed or in which something is looked for. */
  readonly disk: Disk;
  readonly #options: DirectoryWatchesOptions;
  readonly #watches = new Map<string, Pick<FSWatcher, 'close'>>();
  #isExhausted = false;

  constructor(options: DirectoryWatchesOptions) {
    this.#options = options;
    this.disk = {
      ...DISK,
      list: (path) => {
        this.#watchWay(path);
        return DISK.list(path);
      },
      listBytes: (path) => {
        this.#watchWay(path);
        return DISK.listBytes(path);
      },
      stat: (path) => {
        this.#watchAround(path);
        return DISK.stat(path);
      },
    };
  }

  /** The system has no more watches to give: only looking again and again tells what changes. */
  get isExhausted(): boolean {
    return this.#isExhausted;
  }

  get size(): number {
    return this.#watches.size;
  }

  directories(): readonly string[] {
    return [...this.#watches.keys()];
  }

  close(): void {
    for (const each of this.#watches.values()) each.close();
    this.#watches.clear();
  }

  #watchWay(path: string): void {
    const { root } = this.#options;
    for (let at = path; !this.#watches.has(at); at = dirname(at)) {
      this.#watch(at);
      if (root === undefined || !at.startsWith(`${root}/`)) return;
    }
  }

  /** Of what is not there, the nearest directory that is: it tells when the way to it appears. */
  #watchAround(path: string): void {
    for (let at = dirname(path); !this.#watches.has(at) && !this.#isExhausted; at = dirname(at)) {
      if (this.#watch(at) || dirname(at) === at) return;
    }
  }

  #watch(directory: string): boolean {
    if (this.#watches.has(directory)) return true;
    if (this.#isExhausted) return false;
    const { watch = watchDirectory } = this.#options;
    try {
      const watcher = watch(directory, (type, name) =>
        this.#happened(directory, name, type === 'rename' ? 'named' : 'written'),
      );
      watcher.on('error', () => this.forget(directory));
      this.#watches.set(directory, watcher);
      return true;
    } catch (error) {
      const { code } = error as NodeJS.ErrnoException;
      if (code === 'ENOSPC' || code === 'EMFILE') this.#exhausted(directory, code);
      return false;
    }
  }

  #happened(directory: string, name: string | null, how: Happened): void {
    const path = name === null ? directory : join(directory, name);
    // A directory that was moved or removed is watched anew, under its new name, at the next look.
    this.forget(path);
    if (name === basename(directory) && DISK.lstat(directory) === null) {
      this.forget(directory);
      this.#options.changed(directory, how);
    }
    this.#options.changed(path, how);
  }

  /** What stands there now is another than what is watched. */
  forget(directory: string): void {
    if (!this.#watches.has(directory) && directory !== this.#options.root) return;
    for (const [watched, watcher] of this.#watches) {
      if (watched !== directory && !watched.startsWith(`${directory}/`)) continue;
      watcher.close();
      this.#watches.delete(watched);
    }
  }

  #exhausted(directory: string, code: string): void {
    this.#isExhausted = true;
    const limit =
      code === 'ENOSPC' ? 'fs.inotify.max_user_watches=1048576' : 'fs.inotify.max_user_instances=512';
    this.#options.warn(
      `${directory} and what follows cannot be watched (${code}), so they are looked at every few seconds; ` +
        `\`sudo sysctl ${limit}\` allows more`,
    );
  }
}
