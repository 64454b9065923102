// What the commands of a runner said, one after the other, for those who look later: work directories have only the
// latest attempt of each state. The newest file is `log`, older ones `log.1` to `log.4`.

import { appendFileSync, mkdirSync, readFileSync, renameSync, statSync } from 'node:fs';
import { join } from 'node:path';
import { FILES } from './launch-script.ts';

export interface LogBook {
  /** Called when an attempt has ended and its work directory still stands; secrets are masked by then. */
  keep(title: string, workDir: string): void;
}

const OLD_FILES = 4;

export function openLogBook(folder: string, mostBytes = 10 * 2 ** 20): LogBook {
  const file = join(folder, 'log');
  mkdirSync(folder, { recursive: true });
  return {
    keep(title, workDir) {
      const said = [FILES.stdout, FILES.stderr].map((name) => readIfThere(join(workDir, name)));
      const bytes = said.reduce((sum, { length }) => sum + length, 0);
      if (bytes === 0) return;
      try {
        if (sizeOf(file) + bytes > mostBytes) turnOver(file);
        appendFileSync(file, Buffer.concat([Buffer.from(`== ${title}\n`), ...said, NEWLINE]), {
          mode: 0o600,
        });
      } catch {
        // A disk that is full must not fail what went well.
      }
    },
  };
}

const NEWLINE = Buffer.from('\n');
/** Of one stream of one attempt; all of it is in its work directory. */
const MOST_OF_ONE = 4 * 2 ** 20;

function readIfThere(file: string): Buffer {
  try {
    const whole = readFileSync(file);
    return whole.length <= MOST_OF_ONE ? whole : whole.subarray(whole.length - MOST_OF_ONE);
  } catch {
    return Buffer.alloc(0);
  }
}

function sizeOf(file: string): number {
  return statSync(file, { throwIfNoEntry: false })?.size ?? 0;
}

function turnOver(file: string): void {
  for (let i = OLD_FILES - 1; i >= 0; i--) {
    const from = i === 0 ? file : `${file}.${i}`;
    if (sizeOf(from) > 0) renameSync(from, `${file}.${i + 1}`);
  }
}
