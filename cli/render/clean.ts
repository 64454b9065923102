// What was cleaned away, in numbers.

import { shown } from '../../schema/diagnostic.ts';

export interface Cleaned {
  readonly removed: number;
  readonly bytes: number;
  /** Work directories that are still there. */
  readonly kept: number;
  /** They could not be removed. */
  readonly stuck: readonly string[];
}

export function renderCleaned({ removed, bytes, kept, stuck }: Cleaned, json: boolean): string {
  if (json) return `${JSON.stringify({ removed, freed_bytes: bytes, kept, stuck })}\n`;
  const trouble = stuck.map((path) => `could not remove ${shown(path)}; check its permissions\n`).join('');
  if (removed === 0 && kept === 0) return `nothing to clean\n${trouble}`;
  const what = removed === 1 ? '1 work directory' : `${removed} work directories`;
  return `${what} removed, ${sizeText(bytes)} freed, ${kept} kept\n${trouble}`;
}

export function sizeText(bytes: number): string {
  if (bytes < 1_000) return `${bytes} bytes`;
  const units = ['kB', 'MB', 'GB', 'TB'];
  const power = Math.min(units.length, Math.floor(Math.log10(bytes) / 3));
  return `${(bytes / 1_000 ** power).toFixed(1)} ${units[power - 1]}`;
}
