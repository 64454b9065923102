// Where an attempt works: `.sluice/work/ab/cdef…/`, found again from the attempt's id alone.

import { rmSync } from 'node:fs';
import { join, resolve } from 'node:path';
import type { HashBytes } from '../schema/blake3.ts';

export interface WorkDirPlace {
  /** `.sluice/`, or what stands for it. */
  readonly own: string;
  /** The workflow's own directory, which `policy.work_dir` is relative to. */
  readonly workflowDir: string;
  /** `policy.work_dir` */
  readonly policyWorkDir: string | null;
}

export function workBase({ own, workflowDir, policyWorkDir }: WorkDirPlace): string {
  return policyWorkDir === null ? join(own, 'work') : resolve(workflowDir, policyWorkDir);
}

/** By hash, so that no id can name a path of its own choosing. */
export function workDirOf(base: string, attempt: string, hash: HashBytes): string {
  const hex = Buffer.from(hash(Buffer.from(attempt))).toString('hex');
  return join(base, hex.slice(0, 2), hex.slice(2, 32));
}

/** False if something in it resists, such as a directory without write permission; nothing depends on it. */
export function removeWorkDir(workDir: string): boolean {
  try {
    rmSync(workDir, { recursive: true, force: true });
    return true;
  } catch {
    return false;
  }
}
