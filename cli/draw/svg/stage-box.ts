// One stage as a box whose shape says what it is: folded sheet, rounded box, pill, octagon; double if frozen.

import { unreachable } from '../../../schema/words.ts';
import type { Look, StageMarks } from '../stage-marks.ts';
import { columnsOf, cutMiddle } from '../text-columns.ts';
import type { Size } from './lay-out.ts';
import { num, titleElement, xmlText } from './xml.ts';

export interface Place extends Size {
  readonly x: number;
  readonly y: number;
}

// Pixels per column of the style sheet's two font sizes; fixed-width fonts are 0.55 to 0.61 em wide.
const NAME_COLUMN = 13 * 0.605;
const NOTE_COLUMN = 10.5 * 0.605;
const PADDING = 13;
const MANY = 60;

export function drawStage(marks: StageMarks, place: Place, title: readonly string[]): string {
  const inner = { x: place.x + 3, y: place.y + 3, width: place.width - 6, height: place.height - 6 };
  return [
    `<g>${titleElement(title)}`,
    outline(marks.look, place, `box ${marks.look}`),
    marks.frozen ? outline(marks.look, inner, `inner ${marks.look}`) : '',
    drawTexts(marks, place),
    '</g>',
  ].join('');
}

/**
 * One size for all stages of a drawing. A few very long names are cut rather than making every box wide; the
 * whole name is in the box's title.
 */
export function boxSizeFor(all: readonly StageMarks[]): Size {
  const widths = all.map(naturalWidth).sort((a, b) => a - b);
  const common = widths[Math.ceil(widths.length * 0.95) - 1] ?? 0;
  const hasNotes = all.some((marks) => noteOf(marks) !== '');
  const widest = all.length > MANY ? 210 : 280;
  return { width: Math.min(Math.max(common, 84), widest), height: hasNotes ? 42 : 28 };
}

function naturalWidth(marks: StageMarks): number {
  const name = columnsOf(marks.name) * NAME_COLUMN;
  const notes = columnsOf(noteOf(marks)) * NOTE_COLUMN;
  return Math.ceil(Math.max(name, notes) + 2 * PADDING);
}

function noteOf(marks: StageMarks): string {
  return [...(marks.frozen ? ['frozen'] : []), ...marks.notes].join(' · ');
}

export function outline(look: Look, place: Place, classes: string): string {
  const { x, y, width, height } = place;
  switch (look) {
    case 'transform':
      return rect(place, 5, classes);
    case 'action':
      return rect(place, height / 2, classes);
    case 'gate':
      return path(
        `M${num(x + 8)} ${num(y)}h${num(width - 16)}l8 8v${num(height - 16)}l-8 8h${num(16 - width)}l-8 -8v${num(16 - height)}z`,
        classes,
      );
    case 'source':
      return path(
        `M${num(x)} ${num(y)}h${num(width - 9)}l9 9v${num(height - 9)}h${num(-width)}zM${num(x + width - 9)} ${num(y)}v9h9`,
        classes,
      );
    default:
      return unreachable(look);
  }
}

function drawTexts(marks: StageMarks, place: Place): string {
  const note = noteOf(marks);
  const middle = place.y + place.height / 2;
  const room = place.width - 2 * PADDING + 1;
  const name = cutMiddle(marks.name, Math.floor(room / NAME_COLUMN));
  if (note === '') return drawText(name, { place, y: middle + 4.5, kind: 'name' });
  const cut = cutMiddle(note, Math.floor(room / NOTE_COLUMN));
  return (
    drawText(name, { place, y: middle - 2.5, kind: 'name' }) +
    drawText(cut, { place, y: middle + 11.5, kind: 'note' })
  );
}

/** The length is given too, so that no font of another width can make a text leave its box. */
function drawText(text: string, at: { place: Place; y: number; kind: 'name' | 'note' }): string {
  const length = columnsOf(text) * (at.kind === 'name' ? NAME_COLUMN : NOTE_COLUMN);
  const x = at.place.x + at.place.width / 2;
  const fitted = `textLength="${num(length)}" lengthAdjust="spacingAndGlyphs"`;
  return `<text class="${at.kind}" x="${num(x)}" y="${num(at.y)}" ${fitted}>${xmlText(text)}</text>`;
}

function rect({ x, y, width, height }: Place, radius: number, classes: string): string {
  return `<rect class="${classes}" x="${num(x)}" y="${num(y)}" width="${num(width)}" height="${num(height)}" rx="${num(radius)}"/>`;
}

function path(d: string, classes: string): string {
  return `<path class="${classes}" d="${d}"/>`;
}
