// One step of the shell scanner inside quotes and expansions. Each answers whether it took the character.

import {
  addToWord,
  becomeUnsure,
  codeFrame,
  codeOf,
  type Frame,
  type ShellScanner,
  topOf,
} from './shell-frame.ts';

type FrameOf<Kind extends Frame['kind']> = Extract<Frame, { kind: Kind }>;

/** What expands wherever anything expands: a backslash, a backtick, a dollar. */
export function stepExpansion(scanner: ShellScanner, c: string): boolean {
  if (c === '\\') scanner.mode = 'escape';
  else if (c === '`') scanner.frames.push({ kind: 'backtick' });
  else if (c === '$') scanner.mode = 'dollar';
  else return false;
  if (c !== '\\') addToWord(scanner, c);
  return true;
}

export function stepEscape(scanner: ShellScanner, c: string): boolean {
  const { interrupted } = scanner;
  scanner.interrupted = 'plain';
  scanner.mode = 'plain';
  if (topOf(scanner).kind === 'ansi' && c === "'")
    becomeUnsure(scanner, "\\' inside $' ' is read differently by sh and bash");
  if (c !== '\n') {
    addToWord(scanner, '\\' + c);
    return true;
  }
  // A joined line goes on with whatever was being read; for half an operator shells disagree.
  if (interrupted === 'name') scanner.mode = 'name';
  else if (interrupted !== 'plain' || scanner.previous === '(')
    becomeUnsure(scanner, 'an operator is split over two lines');
  return true;
}

/** After `$`, or in the name of a `$name`. */
export function stepDollar(scanner: ShellScanner, c: string): boolean {
  if (c === '\\') scanner.interrupted = scanner.mode;
  const inName = scanner.mode === 'name';
  scanner.mode = 'plain';
  if (/[A-Za-z0-9_]/.test(c)) scanner.mode = 'name';
  else if (inName) return false;
  else if (c === '[') becomeUnsure(scanner, '$[ ] is arithmetic in bash only');
  else if (!opensExpansion(scanner, c) && !/[@*#?$!-]/.test(c)) return false;
  addToWord(scanner, topOf(scanner).kind === 'code' && c === '(' ? '' : c);
  return true;
}

function opensExpansion(scanner: ShellScanner, c: string): boolean {
  const top = topOf(scanner);
  const inQuotes = isQuoting(top);
  if (c === '(') scanner.frames.push(codeFrame(true));
  else if (c === '{') scanner.frames.push({ kind: 'parameter', inQuotes, first: true });
  else if (c === "'" && !inQuotes) scanner.frames.push({ kind: 'ansi' });
  else return false;
  return true;
}

function isQuoting(frame: Frame): boolean {
  return frame.kind === 'parameter' ? frame.inQuotes : frame.kind !== 'code';
}

export function stepSingle(scanner: ShellScanner, c: string): boolean {
  addToWord(scanner, c);
  if (c === "'") scanner.frames.pop();
  return true;
}

export function stepDouble(scanner: ShellScanner, c: string): boolean {
  if (stepExpansion(scanner, c)) return true;
  addToWord(scanner, c);
  if (c === '"') scanner.frames.pop();
  return true;
}

export function stepAnsi(scanner: ShellScanner, c: string): boolean {
  if (c === '\\') scanner.mode = 'escape';
  else if (c === "'") scanner.frames.pop();
  return true;
}

export function stepBacktick(scanner: ShellScanner, c: string): boolean {
  if (c === '\\') scanner.mode = 'escape';
  else if (c === '`') scanner.frames.pop();
  return true;
}

/** bash before version 4 looks for quotes and parentheses even in comments, inside `$( )`. */
export function stepComment(scanner: ShellScanner, c: string): boolean {
  if (codeOf(scanner).substitution && /['"`()\\]/.test(c)) {
    becomeUnsure(scanner, 'a comment inside $( ) has quotes or parentheses');
  }
  if (c !== '\n') return true;
  scanner.frames.pop();
  return false;
}

export function stepParameter(scanner: ShellScanner, top: FrameOf<'parameter'>, c: string): boolean {
  if (top.first && /[\s|]/.test(c)) becomeUnsure(scanner, '${ is followed by a space');
  top.first = false;
  if (stepExpansion(scanner, c)) return true;
  addToWord(scanner, c);
  if (c === '}') scanner.frames.pop();
  else if (c === '"' || c === "'") {
    if (top.inQuotes) becomeUnsure(scanner, 'quotes inside "${ }" are read differently by different shells');
    scanner.frames.push({ kind: c === '"' ? 'double' : 'single' });
  }
  return true;
}

/** `$((` is arithmetic only if it ends in `))`; anything that would tell a command from it makes us unsure. */
export function stepArithmetic(scanner: ShellScanner, top: FrameOf<'arithmetic'>, c: string): boolean {
  if (/['"\\]/.test(c) || (top.closing && c !== ')'))
    becomeUnsure(scanner, '$(( may be arithmetic or a command');
  else if (top.closing) scanner.frames.pop();
  else if (stepExpansion(scanner, c)) return true;
  else if (c === '(') top.depth++;
  else if (c === ')' && top.depth > 0) top.depth--;
  else if (c === ')') top.closing = true;
  return true;
}
