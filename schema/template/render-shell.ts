// Fills a command template: every value is quoted for the place where it stands, or refused with the remedy.

import type { Scope, Value } from './evaluate.ts';
import type { Placeholder, Template } from './parse.ts';
import { bad, good, type Outcome, type TemplateProblem } from './problem.ts';
import { quote } from './quote.ts';
import { type FilledPlaceholder, fill, type Piece, textOf } from './render.ts';
import { feed, finish, placeIn } from './shell-context.ts';
import { newShellScanner, type Place, type ShellScanner } from './shell-frame.ts';

export function renderShell(template: Template, scope: Scope): Outcome<string> {
  const pieces = fill(template, scope);
  if (!pieces.ok) return pieces;
  const { text, problems } = write(pieces.value);
  return problems.length > 0 ? bad(...problems) : good(text);
}

/** What `renderShell` would refuse whatever the values are: for the loader, before anything has a value. */
export function checkShell(template: Template): readonly TemplateProblem[] {
  return write(standIns(template)).problems;
}

/** Every placeholder of a command with the place where it stands. */
export function shellPlaces(template: Template): readonly { placeholder: Placeholder; place: Place }[] {
  return write(standIns(template)).places;
}

interface Written {
  readonly text: string;
  readonly problems: readonly TemplateProblem[];
  readonly places: readonly { placeholder: Placeholder; place: Place }[];
}

function write(pieces: readonly Piece[]): Written {
  const scanner = newShellScanner();
  const problems: TemplateProblem[] = [];
  const places: { placeholder: Placeholder; place: Place }[] = [];
  let text = '';
  for (const [i, piece] of pieces.entries()) {
    if (scanner.harm !== null) break;
    if (piece.kind === 'text') {
      feed(scanner, piece.text, false);
      text += piece.text;
      continue;
    }
    places.push({ placeholder: piece.placeholder, place: placeIn(scanner) });
    const outcome = writeValue(scanner, piece, firstCharacter(pieces[i + 1]));
    if (outcome.ok) text += outcome.value;
    else problems.push(...outcome.problems);
  }
  finish(scanner);
  if (scanner.harm !== null) problems.push(harmsHeredoc(places.at(-1)!.placeholder, scanner.harm));
  return { text, problems, places };
}

function writeValue(scanner: ShellScanner, piece: FilledPlaceholder, after: string): Outcome<string> {
  const { value, placeholder } = piece;
  const place = placeIn(scanner);
  if (placeholder.raw) return writeRaw(scanner, piece);
  const quoted = quote(value, place, after);
  // The stand-in keeps the scanner going, so that the other refusals are found too.
  feed(scanner, quoted.ok ? quoted.text : 'x', true);
  if (!quoted.ok) return bad(problem(placeholder, quoted.code, quoted.where, quoted.hint));
  const stayed = scanner.harm !== null || placeIn(scanner).kind === place.kind;
  if (!stayed) throw new Error(`quoting ${placeholder.source} left its place, ${place.kind}`);
  return good(quoted.text);
}

/** Read by the scanner as part of the command, because it may open a quote for what follows. */
function writeRaw(scanner: ShellScanner, { value, placeholder }: FilledPlaceholder): Outcome<string> {
  const text = value.kind === 'paths' ? value.paths.join(' ') : textOf(value);
  feed(scanner, text, false);
  if (!text.includes('\0')) return good(text);
  return bad(
    problem(placeholder, 'nul-in-value', 'in a command but contains a NUL', 'remove the NUL from the value'),
  );
}

function firstCharacter(piece: Piece | undefined): string {
  if (piece === undefined) return '';
  return piece.kind === 'text' ? piece.text[0]! : '{';
}

/** Values that every place takes which takes any value at all. */
function standIns(template: Template): readonly Piece[] {
  return template.parts.map((part) => {
    if (part.kind === 'text') return part;
    const isList = part.expression.kind === 'path' && part.expression.root === 'inputs';
    const value: Value = isList ? { kind: 'paths', paths: ['x'] } : { kind: 'json', json: 1 };
    return { kind: 'value', value, placeholder: part };
  });
}

function harmsHeredoc(placeholder: Placeholder, code: NonNullable<ShellScanner['harm']>): TemplateProblem {
  const effect =
    code === 'ends-heredoc' ? 'it would end the heredoc early' : 'sh would lose one of its letters';
  const hint = 'choose a delimiter that no line begins with, such as __END__';
  return problem(placeholder, code, `in a heredoc where ${effect}`, hint);
}

function problem(
  { source, start, end }: Placeholder,
  code: string,
  where: string,
  hint: string,
): TemplateProblem {
  return { code, message: `${source} stands ${where}`, hint, start, end };
}
