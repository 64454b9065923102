// The key below the drawing: only what occurs in it, and nothing if all of it looks the same.

import type { Look } from '../stage-marks.ts';
import { outline } from './stage-box.ts';
import { num } from './xml.ts';

export interface Legend {
  readonly width: number;
  /** Around the height 0, from the left edge on. */
  readonly elements: string;
}

interface Entry {
  readonly label: string;
  readonly sample: string;
}

const COLUMN = 11 * 0.605;
const SAMPLE = { x: 0, y: -9, width: 26, height: 18 };
const LOOKS: readonly Look[] = ['source', 'transform', 'action', 'gate'];

export function drawLegend(looks: ReadonlySet<Look>, hasAfter: boolean): Legend | null {
  const boxes = LOOKS.filter((look) => looks.has(look)).map(
    (look): Entry => ({ label: look, sample: outline(look, SAMPLE, `box ${look}`) }),
  );
  const entries = hasAfter ? [...boxes, AFTER] : boxes;
  if (entries.length < 2) return null;
  let width = 0;
  const elements = entries.map(({ label, sample }) => {
    const at = width;
    width += SAMPLE.width + 6 + label.length * COLUMN + 20;
    const text = `<text class="key" x="${SAMPLE.width + 6}" y="4">${label}</text>`;
    return `<g transform="translate(${num(at)} 0)">${sample}${text}</g>`;
  });
  return { width, elements: elements.join('') };
}

const AFTER: Entry = {
  label: 'after, no data',
  sample: `<path class="line after" marker-end="url(#tip)" d="M0 0h${SAMPLE.width}"/>`,
};
