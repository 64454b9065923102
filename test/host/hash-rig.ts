// A hasher over real files that tells what it opened, listed and hashed, with a clock and a disk in the test's hands.

import { mkdirSync, mkdtempSync, realpathSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { dirname, join } from 'node:path';
import { type Blake3Implementation, loadBlake3 } from '../../host/blake3.ts';
import { DISK, type Disk, type Stamp } from '../../host/disk.ts';
import type { IgnoreRule } from '../../host/ignore.ts';
import { createPathHasher, type PathHasher } from '../../host/path-hash.ts';
import { StatCache } from '../../host/stat-cache.ts';

export class HashRig {
  readonly dir = realpathSync(mkdtempSync(join(tmpdir(), 'sluice-hash-')));
  /** Long after every stamp, so that nothing is racy unless a test sets it back. */
  nowMs = Date.now() + 60_000;
  /** Paths opened for reading, below `dir`. */
  opened: string[] = [];
  hashes = 0;
  blake3: Blake3Implementation = loadBlake3();
  disk: Disk = DISK;
  cache = this.newCache();

  newCache(): StatCache {
    return new StatCache({
      path: join(this.dir, '.sluice-cache'),
      hash: this.blake3.hash,
      nowMs: () => this.nowMs,
    });
  }

  hasher(options: { readonly ignore?: IgnoreRule; readonly cache?: StatCache } = {}): PathHasher {
    return createPathHasher({
      cache: this.cache,
      nowMs: () => this.nowMs,
      blake3: { ...this.blake3, hash: this.#counted('hash'), hex: this.#counted('hex') },
      disk: { ...this.disk, open: (path) => this.#open(path) },
      ...options,
    });
  }

  /** What a hasher without any memory says. */
  afresh(name: string) {
    const cache = new StatCache({ path: '/dev/null/none', hash: this.blake3.hash, nowMs: () => 0 });
    return createPathHasher({ cache, nowMs: () => 0, blake3: this.blake3 }).hashPath(this.at(name));
  }

  at(name: string): string {
    return join(this.dir, name);
  }

  write(name: string, content: string | Uint8Array = name): void {
    mkdirSync(dirname(this.at(name)), { recursive: true });
    writeFileSync(this.at(name), content);
  }

  forgetCounts(): void {
    this.opened = [];
    this.hashes = 0;
  }

  /** Makes every stamp of a path carry these times, as a coarse clock would. */
  freezeStamps(ms: number): void {
    const timeNs = BigInt(ms) * 1_000_000n + 7n;
    const frozen = (stamp: Stamp | null) => stamp && { ...stamp, mtimeNs: timeNs, ctimeNs: timeNs };
    this.disk = {
      ...DISK,
      stat: (path) => frozen(DISK.stat(path)),
      lstat: (path) => frozen(DISK.lstat(path)),
      fstat: (fd) => frozen(DISK.fstat(fd))!,
    };
  }

  remove(): void {
    rmSync(this.dir, { recursive: true, force: true });
  }

  #counted<How extends 'hash' | 'hex'>(how: How): Blake3Implementation[How] {
    const act = this.blake3[how] as (bytes: Uint8Array) => never;
    return (bytes: Uint8Array) => {
      this.hashes++;
      return act(bytes);
    };
  }

  #open(path: string): number {
    this.opened.push(path.slice(this.dir.length + 1));
    return this.disk.open(path);
  }
}

export function refusing(code: string): () => never {
  return () => {
    throw Object.assign(new Error(`${code}: refused`), { code, syscall: 'test' });
  };
}
