// How a value is written at one place of a shell command, so that it is data there and nothing else.

import { unreachable } from '../words.ts';
import type { Value } from './evaluate.ts';
import { textOf } from './render.ts';
import type { Heredoc, Place, Refusal } from './shell-frame.ts';

export type Quoted =
  | { readonly ok: true; readonly text: string }
  | { readonly ok: false; readonly code: string; readonly where: string; readonly hint: string };

const BY_VARIABLE = 'write v={{…}} on a line of its own before it, and use "$v" here';

/** `after` is the character that follows the placeholder, '{' if that is another placeholder, '' at the end. */
export function quote(value: Value, place: Place, after: string): Quoted {
  if (place.kind === 'refused') return REFUSALS[place.refusal](place.detail);
  if (value.kind === 'paths') return quoteList(value.paths, place, after);
  const text = textOf(value);
  const unusable = unusableText(text, place);
  if (unusable !== null) return unusable;
  const startsOption = value.kind === 'path' && place.startsWord && isWord(place) && text.startsWith('-');
  return quoteText(startsOption ? `./${text}` : text, place, after);
}

/** Whether the text becomes part of a word of a command. */
function isWord({ kind }: Place): boolean {
  return kind === 'bare' || kind === 'double' || kind === 'single';
}

function quoteText(text: string, place: Exclude<Place, { kind: 'refused' }>, after: string): Quoted {
  switch (place.kind) {
    case 'bare':
      return written(isPlainWord(text, place, after) ? text : singleQuoted(text));
    case 'double':
      // `""` ends the name of a `"$name` before it, which the value would otherwise lengthen.
      return written((place.afterName ? '""' : '') + text.replace(/[\\"$`]/g, '\\$&'));
    case 'single':
      return written(text.replaceAll("'", "'\\''"));
    case 'heredoc':
      return quoteInBody(text, place.heredoc, place.line);
    case 'comment':
      return written(text.replace(/\p{Cc}/gu, ' '));
    case 'arithmetic':
      return quoteNumber(text);
    default:
      return unreachable(place);
  }
}

const RESERVED = new Set(
  'case coproc do done elif else esac fi for function if in select then time until while'.split(' '),
);

/** Whether the word means the same to the shell with and without quotes around this part of it. */
function isPlainWord(text: string, place: Place & { kind: 'bare' }, after: string): boolean {
  const word = place.word + text;
  if (!/^[A-Za-z0-9_/.:-]+$/.test(text) || place.afterName || place.evaluates) return false;
  if (/\[[^\]]*$|\{[^}]*$|~[^/]*$/.test(place.word)) return false;
  if (/[=+[(]/.test(after)) return false;
  if (/^\d+$/.test(word)) return !/[\d<>\\{]/.test(after);
  if (/^[a-z]+$/.test(word)) return !RESERVED.has(word) && !/[a-z\\{]/.test(after);
  return true;
}

function singleQuoted(text: string): string {
  return `'${text.replaceAll("'", "'\\''")}'`;
}

function quoteInBody(text: string, { quoted, stripsTabs }: Heredoc, line: string): Quoted {
  const losesTabs = stripsTabs && (text.includes('\n\t') || (text.startsWith('\t') && /^\t*$/.test(line)));
  if (losesTabs)
    return refused('tab-in-heredoc', 'where <<- would drop the tabs it begins with', 'use << without the -');
  return written(quoted ? text : text.replace(/[\\$`]/g, '\\$&'));
}

function quoteNumber(text: string): Quoted {
  if (!/^-?(?:0|[1-9]\d*)$/.test(text)) {
    return refused(
      'not-a-number',
      'in $(( )) but is not a whole number',
      'arithmetic takes whole numbers only',
    );
  }
  return written(text.startsWith('-') ? `(${text})` : text);
}

/** Several words, so only where a word of its own stands. */
function quoteList(
  paths: readonly string[],
  place: Exclude<Place, { kind: 'refused' }>,
  after: string,
): Quoted {
  if (place.kind === 'comment') return quoteText(paths.join(' '), place, after);
  const isWord = place.kind === 'bare' && place.word === '' && /^[ \t\n;|&)<>]?$/.test(after);
  if (!isWord)
    return refused(
      'list-in-word',
      'inside a word but is a list',
      'give the list a place of its own, unquoted',
    );
  const words = paths.map((path) => quote({ kind: 'path', path }, place, after));
  const failed = words.find((word) => !word.ok);
  return failed ?? written(words.map((word) => (word.ok ? word.text : '')).join(' '));
}

function unusableText(text: string, place: Place): Quoted | null {
  if (text.includes('\0'))
    return refused('nul-in-value', 'in a command but contains a NUL', 'remove the NUL from the value');
  if (!text.isWellFormed()) {
    return refused('bad-unicode', 'in a command but is not valid unicode', 'remove the unpaired surrogate');
  }
  if (place.inBody && text.includes('\n')) {
    return refused('line-break-in-body', 'in $( ) in a heredoc but has a line break', BY_VARIABLE);
  }
  // bash expands the word after >& twice, quoted or not, if it names a file.
  if (place.redirection === 'descriptor' && isWord(place) && !/^(?:\d+|-)$/.test(text)) {
    return refused('not-a-descriptor', 'after >& but is no descriptor', 'write > {{…}} 2>&1 for a file');
  }
  if (isWord(place) && place.evaluates && /[$`[=]|\+\+|--/.test(text)) {
    return refused(
      'evaluated-again',
      'where bash evaluates it once more but contains one of $ ` [ = ++ --',
      'use [ ] or case instead of [[ ]], and a fixed name where a name is expected',
    );
  }
  return null;
}

const REFUSALS: Readonly<Record<Refusal, (detail: string) => Quoted>> = {
  'after-backslash': () => refused('after-backslash', 'directly after a backslash', 'remove the backslash'),
  'after-dollar': () =>
    refused('after-dollar', 'directly after a $', 'remove the $, or write \\$ if one is meant'),
  'after-name': () => refused('after-name', 'directly after a $name', 'write ${name} with braces'),
  'ansi-quotes': () => refused('in-ansi-quotes', "inside $' '", 'use \' \' or " " instead'),
  backticks: () => refused('in-backticks', 'inside backticks', 'write $( ) instead of backticks'),
  parameter: () => refused('in-parameter', 'inside ${ }', BY_VARIABLE),
  delimiter: () => refused('in-delimiter', 'in the delimiter of a heredoc', 'use a fixed word such as EOF'),
  'nested-heredoc': () => refused('in-nested-heredoc', 'in a heredoc inside $( )', BY_VARIABLE),
  'nested-comment': () =>
    refused('in-nested-comment', 'in a comment inside $( )', 'move the comment out of $( )'),
  unsure: (detail) =>
    refused('unsure-place', `where its place cannot be told${detail && `: ${detail}`}`, BY_VARIABLE),
};

function refused(code: string, where: string, hint: string): Quoted {
  return { ok: false, code, where, hint };
}

function written(text: string): Quoted {
  return { ok: true, text };
}
