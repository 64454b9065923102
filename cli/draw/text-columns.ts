// How many columns of a fixed-width font a text takes, and cutting it to fit.

const WIDE =
  /\p{Emoji_Presentation}|\p{Script=Han}|\p{Script=Hiragana}|\p{Script=Katakana}|\p{Script=Hangul}|[\u{3000}-\u{303e}\u{ff01}-\u{ff60}\u{ffe0}-\u{ffe6}]/u;
const ZERO = /\p{Mn}|\p{Me}/u;

export function columnsOf(text: string): number {
  let columns = 0;
  for (const char of text) columns += columnsOfChar(char);
  return columns;
}

/** Cuts in the middle, because names that are long tend to differ at their ends. */
export function cutMiddle(text: string, columns: number): string {
  if (columnsOf(text) <= columns) return text;
  const tailColumns = Math.floor((columns - 1) / 2);
  const head = takeColumns([...text], columns - 1 - tailColumns);
  const tail = takeColumns([...text].reverse(), tailColumns).reverse();
  return `${head.join('')}…${tail.join('')}`;
}

export function padColumns(text: string, columns: number): string {
  return text + ' '.repeat(Math.max(0, columns - columnsOf(text)));
}

function takeColumns(chars: readonly string[], columns: number): string[] {
  const taken: string[] = [];
  let used = 0;
  for (const char of chars) {
    used += columnsOfChar(char);
    if (used > columns) break;
    taken.push(char);
  }
  return taken;
}

function columnsOfChar(char: string): number {
  if (char < '\u{300}') return 1;
  if (ZERO.test(char)) return 0;
  return WIDE.test(char) ? 2 : 1;
}
