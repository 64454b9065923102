// One step of the shell scanner where commands stand: words, operators, subshells and the start of everything else.

import { becomeUnsure, type CodeFrame, type ShellScanner } from './shell-frame.ts';
import { startBody } from './shell-heredoc.ts';
import { stepExpansion } from './shell-quotes.ts';

export function stepCode(scanner: ShellScanner, frame: CodeFrame, c: string): boolean {
  if (scanner.mode !== 'plain') return stepLess(scanner, c);
  if (stepExpansion(scanner, c)) return true;
  if (c === '#' && frame.word === '') {
    scanner.frames.push({ kind: 'comment' });
  } else if (/[\s;&|<>()]/.test(c) && !/[\r\v\f\u0080-\uffff]/.test(c)) {
    stepOperator(scanner, frame, c);
  } else {
    frame.word += c;
    if (c === "'") scanner.frames.push({ kind: 'single' });
    if (c === '"') scanner.frames.push({ kind: 'double' });
  }
  return true;
}

/** After `<`: a redirection, `<<WORD` or bash's `<<<`. */
function stepLess(scanner: ShellScanner, c: string): boolean {
  const second = scanner.mode === 'less';
  scanner.mode = 'plain';
  if (second) {
    if (c === '\\') scanner.interrupted = 'less';
    if (c === '<') scanner.mode = 'less-less';
    return c === '<';
  }
  if (c === '<') return true;
  const stripsTabs = c === '-';
  scanner.frames.push({ kind: 'delimiter', stripsTabs, text: '', quoted: false, within: '' });
  return stripsTabs;
}

function stepOperator(scanner: ShellScanner, frame: CodeFrame, c: string): void {
  const isExtendedGlob = c === '(' && /[?*+@!]$/.test(frame.word);
  if (isExtendedGlob) becomeUnsure(scanner, 'an extended glob is read differently by sh and bash');
  const isDescriptor = (c === '<' || c === '>') && /^\d+$/.test(frame.word);
  endWord(scanner, frame, isDescriptor);
  const redirects = c === '<' || c === '>' || (c === '&' && /[<>]/.test(scanner.previous));
  if (redirects) frame.redirection = c === '&' ? 'descriptor' : 'file';
  else if (c !== ' ' && c !== '\t') Object.assign(frame, { words: [], redirection: 'none' });
  if (c === '<') scanner.mode = 'less';
  else if (c === '(') openParenthesis(scanner, frame);
  else if (c === ')') closeParenthesis(scanner, frame);
  else if (c === '\n') endLine(scanner, frame);
}

function endWord(scanner: ShellScanner, frame: CodeFrame, isDescriptor: boolean): void {
  const { word } = frame;
  if (word === '') return;
  if (word === 'case' && frame.substitution)
    becomeUnsure(scanner, '`case` inside $( ) has unpaired parentheses');
  if (isOpenSubscript(word)) becomeUnsure(scanner, 'an array subscript has a space in it');
  if (word === '[[') frame.test = true;
  if (word === ']]') frame.test = false;
  if (frame.redirection === 'none' && !isDescriptor) frame.words.push(word);
  frame.word = '';
  frame.redirection = 'none';
}

const QUOTED = /'[^']*'|"(?:[^"\\]|\\.)*"|\\./gs;

/** bash reads on until the bracket is closed by one that is not quoted, whatever stands between. */
function isOpenSubscript(word: string): boolean {
  const brackets = /^[A-Za-z_]\w*\[/.test(word) ? word.replace(QUOTED, '').match(/[[\]]/g) : null;
  return (brackets ?? []).reduce((open, each) => open + (each === '[' ? 1 : -1), 0) > 0;
}

function openParenthesis(scanner: ShellScanner, frame: CodeFrame): void {
  if (/[<>]/.test(scanner.previous) && frame.pending.length > 0)
    becomeUnsure(scanner, 'a command stands between a heredoc and its body');
  if (scanner.previous !== '(') {
    frame.depth++;
  } else if (frame.substitution && frame.depth === 0) {
    scanner.frames.pop();
    scanner.frames.push({ kind: 'arithmetic', depth: 0, closing: false });
  } else {
    becomeUnsure(scanner, '(( may be arithmetic or two subshells');
  }
}

function closeParenthesis(scanner: ShellScanner, frame: CodeFrame): void {
  if (frame.depth > 0) frame.depth--;
  else if (frame.substitution) {
    if (frame.pending.length > 0) becomeUnsure(scanner, '$( ) ends before the body of its heredoc');
    scanner.frames.pop();
  }
}

function endLine(scanner: ShellScanner, frame: CodeFrame): void {
  const elsewhere = scanner.frames.some(
    (other) => other !== frame && other.kind === 'code' && other.pending.length > 0,
  );
  if (elsewhere) becomeUnsure(scanner, 'a line ends inside $( ) before the body of a heredoc outside it');
  startBody(scanner, frame);
}
