// The files that are hashed: one large one, or many small ones, all different.

import { closeSync, openSync, writeFileSync, writeSync } from 'node:fs';
import { join } from 'node:path';

export interface Corpus {
  readonly name: string;
  readonly folder: string;
  /** Names within the folder. */
  readonly files: readonly string[];
  readonly bytesEach: number;
}

export function largeFile(folder: string, bytes: number): Corpus {
  const block = Buffer.alloc(2 ** 20);
  const fd = openSync(join(folder, 'large.bin'), 'w');
  for (let i = 0; i < bytes / block.length; i++) {
    block.fill(`block ${i} `);
    writeSync(fd, block);
  }
  closeSync(fd);
  return { name: `one file of ${bytes / 2 ** 20} MiB`, folder, files: ['large.bin'], bytesEach: bytes };
}

export function smallFiles(folder: string, count: number, bytesEach: number): Corpus {
  const files = Array.from({ length: count }, (_, i) => `${String(i).padStart(6, '0')}.bin`);
  for (const name of files) writeFileSync(join(folder, name), Buffer.alloc(bytesEach, `${name} `));
  return {
    name: `${count.toLocaleString('en')} files of ${bytesEach / 1_024} KiB`,
    folder,
    files,
    bytesEach,
  };
}
