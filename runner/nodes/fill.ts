// Fills in the templates of a node's data, each value for the place where it stands.

import { resolve } from 'node:path';
import { shown } from '../../schema/diagnostic.ts';
import type { Scope } from '../../schema/template/evaluate.ts';
import { parseTemplate, type Template } from '../../schema/template/parse.ts';
import type { Outcome } from '../../schema/template/problem.ts';
import { referencedStages, type StageReference } from '../../schema/template/references.ts';
import {
  fill,
  type Piece,
  renderJson,
  renderText,
  renderValue,
  textOf,
} from '../../schema/template/render.ts';
import { renderShell } from '../../schema/template/render-shell.ts';
import type { Json } from '../../schema/words.ts';
import { readContent } from './read-content.ts';
import { type Limits, noPart, type Part, part } from './result.ts';

export interface Fill {
  readonly text: (source: string) => Part<string>;
  /** Typed if the text is one placeholder and nothing else. */
  readonly value: (source: string) => Part<Json>;
  /** Every text in it by `value`; keys are taken as they are. */
  readonly tree: (data: Json) => Part<Json>;
  readonly json: (source: string) => Part<string>;
  readonly shell: (source: string) => Part<string>;
  readonly argument: (source: string) => Part<string>;
  readonly url: (source: string) => Part<string>;
  readonly path: (source: string) => Part<string>;
  /** Like a path, with what a value has of `*`, `?` and the like escaped by a backslash. */
  readonly glob: (source: string) => Part<string>;
}

export interface FillContext {
  readonly scope: Scope;
  readonly root: string;
  readonly limits: Limits;
}

export function createFill(context: FillContext): Fill {
  const read = contentReader(context);
  const variables = Object.keys(context.scope.entity);
  const by =
    <T>(render: (template: Template, scope: Scope) => Outcome<T>) =>
    (source: string): Part<T> => {
      const template = parseTemplate(source, { variables, dialect: 'braces' });
      const scope = withContents(context.scope, referencedStages(template), read);
      return scope.ok ? toPart(render(template, scope.value)) : scope;
    };
  const value = by(renderValue);
  return {
    text: by(renderText),
    value,
    tree: (data) => fillTree(data, value),
    json: by(renderJson),
    shell: by(renderShell),
    argument: byPieces(by, writeArgument),
    url: byPieces(by, writeUrl),
    path: byPieces(by, (pieces) => writePath(pieces, (text) => text)),
    glob: byPieces(by, (pieces) => writePath(pieces, escapeGlob)),
  };
}

type Write = (pieces: readonly Piece[]) => Part<string>;
type By = <T>(render: (template: Template, scope: Scope) => Outcome<T>) => (source: string) => Part<T>;

function byPieces(by: By, write: Write): (source: string) => Part<string> {
  const pieces = by(fill);
  return (source) => {
    const outcome = pieces(source);
    return outcome.ok ? write(outcome.value) : outcome;
  };
}

function toPart<T>(outcome: Outcome<T>): Part<T> {
  if (outcome.ok) return outcome;
  return noPart(outcome.problems.map(({ message, hint }) => `${message}; ${hint}`).join('\n'));
}

function fillTree(data: Json, value: Fill['value']): Part<Json> {
  if (typeof data === 'string') return value(data);
  if (data === null || typeof data !== 'object') return part(data);
  const entries: [string, Json][] = [];
  for (const [key, item] of Object.entries(data)) {
    const done = fillTree(item, value);
    if (!done.ok) return done;
    entries.push([key, done.value]);
  }
  return part(Array.isArray(data) ? entries.map(([, item]) => item) : Object.fromEntries(entries));
}

type ReadStage = (stage: string, asJson: boolean) => Part<Json>;

/** Reads what a template asks for and no more; a content that the caller has given is taken as it is. */
function withContents(scope: Scope, asked: readonly StageReference[], read: ReadStage): Part<Scope> {
  const wanted = asked.filter(({ field, stage }) => field === 'content' && lacksContent(scope, stage));
  if (wanted.length === 0) return part(scope);
  const stages = { ...scope.stages };
  for (const { stage } of wanted) {
    // `$.stage.content` alone is the text; with a field after it, the file is read as JSON.
    const asJson = wanted.some((each) => each.stage === stage && each.path.keys.length > 2);
    const content = read(stage, asJson);
    if (!content.ok) return content;
    stages[stage] = { ...stages[stage], content: content.value };
  }
  return part({ ...scope, stages });
}

function lacksContent({ stages }: Scope, stage: string): boolean {
  return Object.hasOwn(stages, stage) && stages[stage]!.content === undefined;
}

function contentReader({ scope, root, limits }: FillContext): ReadStage {
  const known = new Map<string, Part<Json>>();
  return (stage, asJson) => {
    const path = scope.stages[stage]!.path;
    if (typeof path !== 'string')
      return noPart(
        `'$.${shown(stage)}.content' is the content of one file, and here the stage gives several`,
      );
    const name = `${asJson} ${stage}`;
    const content = known.get(name) ?? readContent({ path, file: resolve(root, path), asJson, limits });
    known.set(name, content);
    return content;
  };
}

/** A path at the start of an argument must not look like an option. */
function writeArgument(pieces: readonly Piece[]): Part<string> {
  const text = pieces.map(textOfPiece).join('');
  const [first] = pieces;
  const isPath = first?.kind === 'value' && first.value.kind === 'path';
  return part(isPath && text.startsWith('-') ? `./${text}` : text);
}

/** A value is one part of a URL, percent-encoded; only the first may be its beginning, such as a whole link. */
function writeUrl(pieces: readonly Piece[]): Part<string> {
  let url = '';
  for (const [i, piece] of pieces.entries()) {
    const text = textOfPiece(piece);
    const asWritten = piece.kind === 'text' || piece.placeholder.raw || i === 0;
    if (!asWritten && (text === '.' || text === '..'))
      return noPart(`${piece.placeholder.source} is '${text}', which would lead to another place of the URL`);
    url += asWritten ? text : encodeURIComponent(text.toWellFormed());
  }
  return part(url);
}

/** What is not itself a path may name something below, but neither climb nor begin at the top of the disk. */
function writePath(pieces: readonly Piece[], write: (text: string) => string): Part<string> {
  const path = pieces
    .map((piece) => (piece.kind === 'text' ? piece.text : write(textOf(piece.value))))
    .join('');
  const plain = pieces.map(textOfPiece).join('');
  const trusted = pieces.map((piece) => (isNamed(piece) ? 'x' : textOfPiece(piece))).join('');
  const escapes = climbs(plain) > climbs(trusted) || (plain.startsWith('/') && !trusted.startsWith('/'));
  if (escapes || plain.includes('\0') || plain === '')
    return noPart(
      `'${shown(plain)}' is no path to take from a value: it is empty, has a NUL, or leads out of the directory`,
    );
  return part(path);
}

function isNamed(piece: Piece): boolean {
  return piece.kind === 'value' && piece.value.kind === 'json';
}

function climbs(path: string): number {
  return path.split('/').filter((name) => name === '..').length;
}

function escapeGlob(text: string): string {
  return text.replace(/[\\*?[\]{}()!+@|^$]/g, '\\$&');
}

function textOfPiece(piece: Piece): string {
  return piece.kind === 'text' ? piece.text : textOf(piece.value);
}
