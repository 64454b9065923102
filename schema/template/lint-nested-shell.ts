// Warns of values that the shell hands on as program text: quoted for the first reader, read again by a second.
//
// It looks at the words of the one command a placeholder stands in, and stays silent where they do not tell.

import type { Template } from './parse.ts';
import type { TemplateProblem } from './problem.ts';
import { shellPlaces } from './render-shell.ts';
import type { Place } from './shell-frame.ts';

export function lintNestedShell(template: Template): readonly TemplateProblem[] {
  return shellPlaces(template).flatMap(({ placeholder, place }) => {
    const reader = placeholder.raw ? null : secondReader(place);
    if (reader === null) return [];
    const { source, start, end } = placeholder;
    const message = `${source} becomes part of a text that ${reader.name} reads as code`;
    return [{ code: 'nested-shell', message, hint: reader.hint, start, end }];
  });
}

interface Reader {
  readonly name: string;
  readonly hint: string;
}

const SHELL = /^(?:ba|da|z|k|a)?sh$|^su$/;
const SCRIPTED = /^(?:python|perl|ruby|node|lua)[\d.]*$/;
const BY_ARGUMENT = `pass it as an argument: sh -c '… "$1"' sh {{…}}`;
const BY_ENVIRONMENT = `write v={{…}} awk '… ENVIRON["v"] …'`;
const SSH: Reader = {
  name: 'the shell at the other end of ssh',
  hint: "send it through a pipe, such as printf %s {{…}} | ssh HOST 'v=$(cat); …', or give the stage a target",
};

function secondReader(place: Place): Reader | null {
  const words = place.command.map(bareName);
  switch (place.kind) {
    case 'heredoc':
      return readerOfInput(words);
    case 'bare':
    case 'double':
    case 'single':
      return place.redirection === 'none' ? readerOfArgument(words) : null;
    default:
      return null;
  }
}

/** Who reads the argument that follows these words. */
function readerOfArgument(words: readonly string[]): Reader | null {
  const [name = '', ...others] = commandIn(words);
  if (name === 'ssh') return sshOperands(others) > 0 ? SSH : null;
  if (name === 'eval') return { name, hint: 'run it without eval' };
  if (name === 'trap' && others.length === 0)
    return { name, hint: `write v={{…}} before it, and trap '… "$v"'` };
  if (/^[gmn]?awk$/.test(name)) return isAwkProgramNext(others) ? { name, hint: BY_ENVIRONMENT } : null;
  const interpreter = words.findLast(isInterpreter);
  const isProgram = interpreter !== undefined && announcesProgram(words.at(-1)!, interpreter);
  return isProgram ? byArgument(interpreter) : null;
}

/** Who reads standard input as code: an interpreter that was given no program. */
function readerOfInput(words: readonly string[]): Reader | null {
  const [name, ...others] = commandIn(words);
  if (name === 'ssh' && sshOperands(others) === 1) return SSH;
  const at = words.findLastIndex(isInterpreter);
  const interpreter = words[at];
  if (interpreter === undefined) return null;
  const isIdle = words
    .slice(at + 1)
    .every((word) => /^-[a-z]*$/.test(word) && !announcesProgram(word, interpreter));
  return isIdle ? byArgument(interpreter) : null;
}

const PREFIX =
  /^(?:if|then|elif|else|while|until|do|time|!|\{|command|builtin|exec|nohup|sudo|env|xargs|timeout|\d+[smh]?|-.*|\w+=.*)$/s;

/** From the name of the command on, without what may stand before one. */
function commandIn(words: readonly string[]): readonly string[] {
  const at = words.findIndex((word) => !PREFIX.test(word));
  return at === -1 ? [] : words.slice(at);
}

function isInterpreter(word: string): boolean {
  return SHELL.test(word) || SCRIPTED.test(word);
}

/** `sh -c`, `python3 -uc`, `perl -ne`: the next word is the program. */
function announcesProgram(option: string, interpreter: string): boolean {
  const letters = SHELL.test(interpreter) || interpreter.startsWith('python') ? /c$/ : /e$/i;
  return /^-[A-Za-z]+$/.test(option) && letters.test(option);
}

function byArgument(name: string): Reader {
  const hint = SHELL.test(name) ? BY_ARGUMENT : 'pass it as an argument after the program, and read it there';
  return { name, hint };
}

/** The host is the first; ssh joins what follows it with spaces and gives that to a shell over there. */
function sshOperands(words: readonly string[]): number {
  const takesValue = /^-[A-Za-z]*[BbcDEeFIiJLlmOopQRSWw]$/;
  return words.filter((word, i) => !word.startsWith('-') && !takesValue.test(words[i - 1] ?? '')).length;
}

/** The first operand, unless -f names a file with the program. */
function isAwkProgramNext(words: readonly string[]): boolean {
  if (words.some((word) => word.startsWith('-f')) || /^-[Fv]$/.test(words.at(-1) ?? '')) return false;
  return words.every((word, i) => word.startsWith('-') || /^-[Fv]$/.test(words[i - 1] ?? ''));
}

/** A word without its quotes and without the directory of the program it names. */
function bareName(word: string): string {
  const text = word.replace(/["'\\]/g, '');
  return /^\/[\w./-]+$/.test(text) ? text.slice(text.lastIndexOf('/') + 1) : text;
}
