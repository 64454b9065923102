// Finds where a text stops being JSON; engines differ in what their error messages tell, and quote the text.

export interface Place {
  readonly line: number;
  readonly column: number;
}

const SPACE = /[ \t\n\r]*/y;
const SCALAR =
  /"(?:[^"\\\u0000-\u001f]|\\(?:["\\/bfnrt]|u[0-9a-fA-F]{4}))*"|-?(?:0|[1-9]\d*)(?:\.\d+)?(?:[eE][+-]?\d+)?(?![\w.])|(?:true|false|null)\b/y;

/** What may come next. `first` is a place where the container may also end at once. */
type Expect = 'value' | 'first-value' | 'key' | 'first-key' | 'colon' | 'comma' | 'end';

/**
 *   value ─▶ scalar ─▶ comma ─▶ value | key
 *        └▶ [ ─▶ first-value      { ─▶ first-key ─▶ colon ─▶ value
 */
export function placeOfMistake(text: string): Place {
  const containers: string[] = [];
  let expect: Expect = 'value';
  let at = skip(text, 0);
  const after = (): Expect => (containers.length === 0 ? 'end' : 'comma');
  while (at < text.length && expect !== 'end') {
    const char = text[at]!;
    const closes = containers.at(-1) === '{' ? '}' : ']';
    let length = 1;
    if (char === closes && ['first-value', 'first-key', 'comma'].includes(expect) && containers.length > 0) {
      containers.pop();
      expect = after();
    } else if (expect === 'comma' && char === ',') {
      expect = containers.at(-1) === '{' ? 'key' : 'value';
    } else if (expect === 'colon' && char === ':') {
      expect = 'value';
    } else if (expect.endsWith('value') && (char === '[' || char === '{')) {
      containers.push(char);
      expect = char === '[' ? 'first-value' : 'first-key';
    } else {
      const isKey = expect.endsWith('key');
      length = isKey && char !== '"' ? 0 : scalarLength(text, at);
      if (length === 0 || !(isKey || expect.endsWith('value'))) break;
      expect = isKey ? 'colon' : after();
    }
    at = skip(text, at + length);
  }
  return placeAt(text, at);
}

function skip(text: string, from: number): number {
  SPACE.lastIndex = from;
  SPACE.exec(text);
  return SPACE.lastIndex;
}

function scalarLength(text: string, from: number): number {
  SCALAR.lastIndex = from;
  return SCALAR.exec(text)?.[0].length ?? 0;
}

function placeAt(text: string, at: number): Place {
  const before = text.slice(0, at);
  const lineStart = before.lastIndexOf('\n') + 1;
  return { line: before.split('\n').length, column: at - lineStart + 1 };
}
