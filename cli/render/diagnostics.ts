// How what is wrong with a file looks: place, fact, the line with a caret, and the next step.

import { type Diagnostic, type Span, shown } from '../../schema/diagnostic.ts';
import { lineStarts, placeOf } from '../../schema/source-place.ts';
import type { Io } from '../command.ts';
import type { Unreadable } from '../read-workflow.ts';
import { paint } from './output.ts';

export interface FileReport {
  /** As the person named it. */
  readonly file: string;
  readonly text: string;
  /** Set if the file could not be read at all. */
  readonly problem: Unreadable | null;
  readonly diagnostics: readonly Diagnostic[];
}

export function renderReport({ file, text, problem, diagnostics }: FileReport, io: Io): string {
  if (problem !== null) return renderProblem(file, problem, io);
  const lines = lineStarts(text);
  return diagnostics.map((diagnostic) => renderDiagnostic(diagnostic, file, text, lines, io)).join('');
}

/** One-based, as editors count; the column counts characters, not UTF-16 units. */
/** No line to show: what is there cannot be read, or is too much to read. */
function renderProblem(file: string, { message, hint, at }: Unreadable, io: Io): string {
  const place = at === undefined ? '' : `${paint(io, 'bold', `${shown(file)}:${at.line}:${at.column}`)} `;
  const fact = at === undefined ? `${shown(file)} ${message}` : `the file ${message}`;
  return `${place}${paint(io, 'red', 'error')} ${fact}\n  ${paint(io, 'cyan', '→')} ${hint}\n\n`;
}

function renderDiagnostic(
  { severity, message, hint, span }: Diagnostic,
  file: string,
  text: string,
  starts: readonly number[],
  io: Io,
): string {
  const { line, column } = placeOf(span.start, text, starts);
  const place = paint(io, 'bold', `${shown(file)}:${line}:${column}`);
  const word = paint(io, severity === 'error' ? 'red' : 'yellow', severity);
  const gutter = ' '.repeat(String(line).length);
  const snippet = snippetAt(span, text, starts[line - 1]!, io.columns - gutter.length - 3);
  const caret = paint(io, severity === 'error' ? 'red' : 'yellow', '^'.repeat(snippet.length));
  const bar = paint(io, 'dim', '│');
  return [
    `${place} ${word} ${shown(message)}`,
    `${paint(io, 'dim', String(line))} ${bar} ${snippet.line}`,
    `${gutter} ${bar} ${' '.repeat(snippet.before)}${caret}`,
    `  ${paint(io, 'cyan', '→')} ${shown(hint)}`,
    '',
    '',
  ].join('\n');
}

/** The span's first line, cut around the span if it is longer than the terminal is wide. */
function snippetAt({ start, end }: Span, text: string, lineStart: number, width: number) {
  const lineEnd = text.indexOf('\n', lineStart);
  const line = text.slice(lineStart, lineEnd < 0 ? text.length : lineEnd).replace(/\r$/, '');
  const from = Math.min(start - lineStart, line.length);
  const to = Math.min(Math.max(end - lineStart, from + 1), Math.max(line.length, from + 1));
  const room = Math.max(width, 40);
  const cut = line.length <= room ? 0 : Math.max(0, Math.min(from - 20, line.length - room));
  const visible = `${cut > 0 ? '…' : ''}${line.slice(cut, cut + room)}${cut + room < line.length ? '…' : ''}`;
  const before = expandTabs(`${cut > 0 ? '…' : ''}${line.slice(cut, from)}`);
  const marked = expandTabs(line.slice(from, Math.min(to, cut + room)));
  return {
    line: shown(visible.replaceAll('\t', '  ')),
    before: before.length,
    length: Math.max(1, marked.length),
  };
}

/** As wide as it will be shown: tabs as two columns, control characters as their escapes. */
function expandTabs(text: string): string {
  return shown(text.replaceAll('\t', '  '));
}
