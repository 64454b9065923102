// From an offset in a text to the line and column that an editor shows.

export interface Place {
  readonly line: number;
  readonly column: number;
}

export function placeOf(offset: number, text: string, starts: readonly number[]): Place {
  let low = 0;
  for (let high = starts.length - 1; low < high; ) {
    const middle = (low + high + 1) >> 1;
    if (starts[middle]! <= offset) low = middle;
    else high = middle - 1;
  }
  return { line: low + 1, column: [...text.slice(starts[low], offset)].length + 1 };
}

export function lineStarts(text: string): number[] {
  const starts = [0];
  for (let at = text.indexOf('\n'); at >= 0; at = text.indexOf('\n', at + 1)) starts.push(at + 1);
  return starts;
}
