// "← left, right; after load", with as many names as there is room for and a count of the rest.

import type { Edge } from '../../../schema/dag.ts';
import { shown } from '../../../schema/diagnostic.ts';
import { columnsOf, cutMiddle } from '../text-columns.ts';

export function inputsText(edges: readonly Edge[], columns: number): string {
  const namesOf = (kind: Edge['cause']['kind']) =>
    edges.filter(({ cause }) => cause.kind === kind).map(({ from }) => shown(from));
  const [data, order] = [namesOf('path'), namesOf('after')];
  if (order.length === 0) return fitted('← ', data, columns);
  if (data.length === 0) return fitted('after ', order, columns);
  const tail = fitted('after ', order, Math.floor((columns - 2) / 2));
  return `${fitted('← ', data, columns - 2 - columnsOf(tail))}; ${tail}`;
}

function fitted(word: string, names: readonly string[], columns: number): string {
  const whole = word + names.join(', ');
  if (columnsOf(whole) <= columns) return whole;
  const room = columns - `, +${names.length}`.length;
  let text = word + cutMiddle(names[0]!, Math.max(6, room - word.length));
  let told = 1;
  while (told < names.length && columnsOf(`${text}, ${names[told]}`) <= room) text += `, ${names[told++]}`;
  return told === names.length ? text : `${text}, +${names.length - told}`;
}
