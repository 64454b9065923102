// Where bash reads a finished word once more, as arithmetic or as the name of an array element.
//
// `$( )` inside such a word runs even if it was quoted: [[ 'a[$(id)]' -eq 0 ]], unset 'a[$(id)]', let 'x=a[$(id)]'.

import type { CodeFrame } from './shell-frame.ts';

export function evaluatesIn({ test, word, words }: CodeFrame): boolean {
  return test || isSubscript(word) || takesNames(words, word);
}

/** `a[…` or, in a list of elements, `[…`, until its value begins. */
function isSubscript(word: string): boolean {
  return /^(?:[A-Za-z_]\w*)?\[/.test(word) && !/\]\+?=/.test(word);
}

const BEFORE_A_COMMAND =
  /^(?:if|then|elif|else|while|until|do|time|!|\{|command|builtin|[A-Za-z_]\w*\+?=.*)$/s;
const TAKES_NAMES = /^(?:unset|read|mapfile|readarray|declare|typeset|local|getopts)$/;

function takesNames(words: readonly string[], word: string): boolean {
  const first = words.findIndex((each) => !BEFORE_A_COMMAND.test(each));
  const [command = '', ...others] = words.slice(first === -1 ? words.length : first);
  if (command === 'let') return true;
  if (/^(?:printf|test|\[)$/.test(command)) return others.at(-1) === '-v';
  const isInteger = others.some((each) => /^-\w*i/.test(each));
  return TAKES_NAMES.test(command) && (isInteger || !word.includes('='));
}
