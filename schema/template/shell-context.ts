// Follows a shell command character by character and tells where in it the next character stands.
//
// It must hold for dash and bash alike. Where they differ, or where only a full parser could tell, the scanner
// becomes unsure and stays so: placeholders are refused from there on, because a wrong guess would under-quote.

import { unreachable } from '../words.ts';
import { stepCode } from './shell-code.ts';
import { evaluatesIn } from './shell-evaluates.ts';
import { bodyOf, codeOf, type Place, type Refusal, type ShellScanner, topOf } from './shell-frame.ts';
import { addToLine, endBodyLine, stepDelimiter } from './shell-heredoc.ts';
import {
  stepAnsi,
  stepArithmetic,
  stepBacktick,
  stepComment,
  stepDollar,
  stepDouble,
  stepEscape,
  stepExpansion,
  stepParameter,
  stepSingle,
} from './shell-quotes.ts';

/** Reads text as the shell will read it; `substituted` says that it came out of a placeholder. */
export function feed(scanner: ShellScanner, text: string, substituted: boolean): void {
  const body = bodyOf(scanner);
  if (substituted && body !== undefined) body.substituted = true;
  for (let i = 0; i < text.length && scanner.unsure === null && scanner.harm === null; i++) {
    step(scanner, text[i]!, substituted);
  }
}

/** To be called at the end of the text: a heredoc's last line may lack its newline. */
export function finish(scanner: ShellScanner): void {
  if (bodyOf(scanner) !== undefined) endBodyLine(scanner, false);
}

export function placeIn(scanner: ShellScanner): Place {
  const top = topOf(scanner);
  const code = codeOf(scanner);
  const around = {
    startsWord: /^(?:''|"")*["']?$/.test(code.word),
    inBody: bodyOf(scanner) !== undefined && top.kind !== 'heredoc',
    evaluates: evaluatesIn(code),
    redirection: code.redirection,
    command: [...code.words],
  };
  const refusal = refusalIn(scanner);
  if (refusal !== null) return { kind: 'refused', refusal, detail: scanner.unsure ?? '', ...around };
  const afterName = scanner.mode === 'name';
  switch (top.kind) {
    case 'code':
      return { kind: 'bare', word: code.word, afterName, ...around };
    case 'double':
      return { kind: 'double', afterName, ...around };
    case 'heredoc':
      return {
        kind: 'heredoc',
        heredoc: top.heredoc,
        line: top.line,
        ...around,
        command: top.heredoc.command,
      };
    case 'single':
    case 'comment':
    case 'arithmetic':
      return { kind: top.kind, ...around };
    default:
      throw new Error(`a placeholder in '${top.kind}' was not refused`);
  }
}

function refusalIn(scanner: ShellScanner): Refusal | null {
  const kinds = new Set(scanner.frames.map((frame) => frame.kind));
  if (scanner.unsure !== null) return 'unsure';
  if (kinds.has('backtick')) return 'backticks';
  if (kinds.has('parameter')) return 'parameter';
  if (kinds.has('ansi')) return 'ansi-quotes';
  if (kinds.has('delimiter') || scanner.mode === 'less-less') return 'delimiter';
  if (scanner.mode === 'escape') return 'after-backslash';
  if (scanner.mode === 'dollar') return 'after-dollar';
  return nestedRefusal(scanner);
}

function nestedRefusal(scanner: ShellScanner): Refusal | null {
  const top = topOf(scanner);
  const inSubstitution = codeOf(scanner).substitution;
  if (top.kind === 'heredoc' && inSubstitution) return 'nested-heredoc';
  if (top.kind === 'comment' && inSubstitution) return 'nested-comment';
  if (top.kind === 'arithmetic' && top.closing) return 'unsure';
  const cannotSeparate = top.kind === 'heredoc' || top.kind === 'arithmetic';
  return cannotSeparate && scanner.mode === 'name' ? 'after-name' : null;
}

function step(scanner: ShellScanner, c: string, substituted: boolean): void {
  const body = bodyOf(scanner);
  if (body !== undefined && c !== '\n') addToLine(scanner, body, c);
  if (body !== undefined && c === '\n' && endBodyLine(scanner, substituted)) return;
  const escaped = scanner.mode === 'escape';
  let taken = false;
  while (!taken && scanner.unsure === null) taken = take(scanner, c);
  // A backslash leaves `previous` alone until it is known what it escapes.
  if (scanner.mode !== 'escape') scanner.previous = escaped ? '' : c;
}

/** False if the character ended something and must be read again by what it ended. */
function take(scanner: ShellScanner, c: string): boolean {
  if (scanner.mode === 'escape') return stepEscape(scanner, c);
  if (scanner.mode === 'dollar' || scanner.mode === 'name') return stepDollar(scanner, c);
  const top = topOf(scanner);
  switch (top.kind) {
    case 'code':
      return stepCode(scanner, top, c);
    case 'single':
      return stepSingle(scanner, c);
    case 'double':
      return stepDouble(scanner, c);
    case 'ansi':
      return stepAnsi(scanner, c);
    case 'backtick':
      return stepBacktick(scanner, c);
    case 'comment':
      return stepComment(scanner, c);
    case 'parameter':
      return stepParameter(scanner, top, c);
    case 'arithmetic':
      return stepArithmetic(scanner, top, c);
    case 'delimiter':
      return stepDelimiter(scanner, top, c);
    case 'heredoc':
      return top.heredoc.quoted || stepExpansion(scanner, c) || true;
    default:
      return unreachable(top);
  }
}
