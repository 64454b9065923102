// The words of the shell scanner: what can enclose a character of a command, and what that makes of a placeholder.

/** One `<<WORD`. */
export interface Heredoc {
  readonly delimiter: string;
  /** `<<'EOF'`: the body is taken literally. */
  readonly quoted: boolean;
  /** `<<-EOF`: leading tabs of every line are dropped. */
  readonly stripsTabs: boolean;
  /** The words of the command that reads it. */
  readonly command: readonly string[];
}

/** A list of commands: the whole text, or the inside of `$( )`. */
export interface CodeFrame {
  readonly kind: 'code';
  readonly substitution: boolean;
  /** Open parentheses of subshells and functions. */
  depth: number;
  /** Heredocs announced on this line, whose bodies begin on the next. */
  readonly pending: Heredoc[];
  /** The finished words of the current command without its redirections, and the source text of the one being read. */
  words: string[];
  word: string;
  /** Where the word being read goes if it belongs to a redirection: `> FILE` or `>& DESCRIPTOR`. */
  redirection: Redirection;
  /** Between bash's `[[` and `]]`. */
  test: boolean;
}

export type Redirection = 'none' | 'file' | 'descriptor';

export interface BodyFrame {
  readonly kind: 'heredoc';
  readonly heredoc: Heredoc;
  line: string;
  /** The line before, if a backslash joins this one to it. */
  joined: string | null;
  /** Whether any of the current line came out of a placeholder. */
  substituted: boolean;
}

export interface DelimiterFrame {
  readonly kind: 'delimiter';
  readonly stripsTabs: boolean;
  text: string;
  quoted: boolean;
  within: '' | "'" | '"' | '\\';
}

export type Frame =
  | CodeFrame
  | BodyFrame
  | DelimiterFrame
  | { readonly kind: 'single' | 'double' | 'ansi' | 'backtick' | 'comment' }
  | { readonly kind: 'parameter'; readonly inQuotes: boolean; first: boolean }
  | { readonly kind: 'arithmetic'; depth: number; closing: boolean };

export interface ShellScanner {
  readonly frames: Frame[];
  mode: Mode;
  /** The mode that a backslash interrupted. */
  interrupted: Mode;
  /** The last character, or nothing if it was escaped. */
  previous: string;
  /** Why the rest of the command cannot be followed. */
  unsure: string | null;
  /** What a line that holds substituted text does to its heredoc; reading stops there. */
  harm: null | 'ends-heredoc' | 'lost-in-heredoc';
}

/** What the last characters began: an escape, `$`, `$name`, `<` or `<<`. */
export type Mode = 'plain' | 'escape' | 'dollar' | 'name' | 'less' | 'less-less';

export type Refusal =
  | 'after-backslash'
  | 'after-dollar'
  | 'after-name'
  | 'ansi-quotes'
  | 'backticks'
  | 'parameter'
  | 'delimiter'
  | 'nested-heredoc'
  | 'nested-comment'
  | 'unsure';

/** Where a placeholder stands, with what is needed to quote for that place. */
export type Place = (
  | { readonly kind: 'bare'; readonly word: string; readonly afterName: boolean }
  | { readonly kind: 'double'; readonly afterName: boolean }
  | { readonly kind: 'single' }
  | { readonly kind: 'heredoc'; readonly heredoc: Heredoc; readonly line: string }
  | { readonly kind: 'comment' }
  | { readonly kind: 'arithmetic' }
  | { readonly kind: 'refused'; readonly refusal: Refusal; readonly detail: string }
) & {
  /** No character of the word stands before it, quotes aside. */
  readonly startsWord: boolean;
  /** In a `$( )` that is itself part of a heredoc's body. */
  readonly inBody: boolean;
  /** In a word that bash evaluates once more. */
  readonly evaluates: boolean;
  /** Whether it is not an argument but where a redirection goes. */
  readonly redirection: Redirection;
  /** The words of the command around it, without the one being read. */
  readonly command: readonly string[];
};

export function newShellScanner(): ShellScanner {
  const frames = [codeFrame(false)];
  return { frames, mode: 'plain', interrupted: 'plain', previous: '', unsure: null, harm: null };
}

export function codeFrame(substitution: boolean): CodeFrame {
  return {
    kind: 'code',
    substitution,
    depth: 0,
    pending: [],
    words: [],
    word: '',
    redirection: 'none',
    test: false,
  };
}

export function topOf(scanner: ShellScanner): Frame {
  return scanner.frames.at(-1)!;
}

/** The innermost list of commands: it owns the word being read, also inside that word's quotes. */
export function codeOf(scanner: ShellScanner): CodeFrame {
  return scanner.frames.findLast((frame) => frame.kind === 'code')!;
}

/** There is at most one body: a heredoc inside another's body makes the scanner unsure. */
export function bodyOf(scanner: ShellScanner): BodyFrame | undefined {
  return scanner.frames.find((frame) => frame.kind === 'heredoc');
}

/** Text of a heredoc's body belongs to no word. */
export function addToWord(scanner: ShellScanner, text: string): void {
  const owner = scanner.frames.findLast((frame) => frame.kind === 'code' || frame.kind === 'heredoc');
  if (owner?.kind === 'code') owner.word += text;
}

export function becomeUnsure(scanner: ShellScanner, why: string): void {
  scanner.unsure ??= why;
}
