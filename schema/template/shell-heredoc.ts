// One step of the shell scanner in heredocs: reading the delimiter, starting a body, ending it at its delimiter.

import {
  type BodyFrame,
  becomeUnsure,
  bodyOf,
  type CodeFrame,
  codeOf,
  type DelimiterFrame,
  type Heredoc,
  type ShellScanner,
  topOf,
} from './shell-frame.ts';

export function startBody(scanner: ShellScanner, code: CodeFrame): void {
  const heredoc = code.pending.shift();
  if (heredoc === undefined) return;
  if (bodyOf(scanner) !== undefined) becomeUnsure(scanner, 'a heredoc stands inside the body of another');
  scanner.frames.push({ kind: 'heredoc', heredoc, line: '', joined: null, substituted: false });
}

/** A newline while a body is open. True if it belongs to the body alone, not to a `$( )` inside it. */
export function endBodyLine(scanner: ShellScanner, substituted: boolean): boolean {
  const body = bodyOf(scanner)!;
  const isOnTop = topOf(scanner) === body;
  if (isOnTop && scanner.mode === 'escape') {
    body.joined = (body.joined ?? '') + body.line.slice(0, -1);
    body.line = '';
    return false;
  }
  if (isOnTop) scanner.mode = 'plain';
  if (isDelimiter(body)) return endBody(scanner, body);
  Object.assign(body, { line: '', joined: null, substituted });
  return isOnTop;
}

/**
 * dash (0.5.12) loses a byte above 127 that follows the first letters of the delimiter at the start of a line:
 * `Eé` in <<EOF.
 */
export function addToLine(scanner: ShellScanner, body: BodyFrame, c: string): void {
  const { heredoc, line, substituted } = body;
  const begun = withoutTabs(line, heredoc);
  const isLost = c > '\x7f' && begun !== '' && heredoc.delimiter.startsWith(begun);
  if (isLost && substituted) scanner.harm = 'lost-in-heredoc';
  body.line += c;
}

function isDelimiter({ heredoc, line, joined }: BodyFrame): boolean {
  const candidates = joined === null ? [line] : [line, joined + line];
  return candidates.some((each) => withoutTabs(each, heredoc) === heredoc.delimiter);
}

function withoutTabs(line: string, { stripsTabs }: Heredoc): string {
  return stripsTabs ? line.replace(/^\t+/, '') : line;
}

function endBody(scanner: ShellScanner, body: BodyFrame): boolean {
  if (body.substituted) scanner.harm = 'ends-heredoc';
  else if (topOf(scanner) !== body) becomeUnsure(scanner, 'a heredoc ends inside an expansion');
  else if (body.joined !== null)
    becomeUnsure(scanner, 'a backslash joins the delimiter of a heredoc to the line before');
  else {
    scanner.frames.pop();
    startBody(scanner, codeOf(scanner));
  }
  scanner.previous = '\n';
  return true;
}

export function stepDelimiter(scanner: ShellScanner, frame: DelimiterFrame, c: string): boolean {
  if (frame.within !== '') return stepQuotedDelimiter(scanner, frame, c);
  const isUnset = frame.text === '' && !frame.quoted;
  if (isUnset && (c === ' ' || c === '\t')) return true;
  if (/[ \t\n;&|<>()]/.test(c)) return endDelimiter(scanner, frame);
  if (/[$`]/.test(c) || (isUnset && c === '#'))
    becomeUnsure(scanner, 'the delimiter of a heredoc is not a plain word');
  if (c === "'" || c === '"' || c === '\\') {
    frame.quoted = true;
    frame.within = c;
  } else {
    frame.text += c;
  }
  return true;
}

function stepQuotedDelimiter(scanner: ShellScanner, frame: DelimiterFrame, c: string): boolean {
  const isOdd = c === '\n' || (frame.within === '"' && /[\\$`]/.test(c));
  if (isOdd) becomeUnsure(scanner, 'the delimiter of a heredoc is not a plain word');
  if (frame.within === '\\') {
    frame.text += c;
    frame.within = '';
  } else if (c === frame.within) {
    frame.within = '';
  } else {
    frame.text += c;
  }
  return true;
}

function endDelimiter(scanner: ShellScanner, { text, quoted, stripsTabs }: DelimiterFrame): boolean {
  if (text === '') becomeUnsure(scanner, 'the delimiter of a heredoc is not a plain word');
  scanner.frames.pop();
  const code = codeOf(scanner);
  code.redirection = 'none';
  code.pending.push({ delimiter: text, quoted, stripsTabs, command: code.words });
  return false;
}
