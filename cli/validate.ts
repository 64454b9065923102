// `sluice validate FILE…`: everything that is wrong, in every file, at once.

import type { Diagnostic } from '../schema/diagnostic.ts';
import { lineStarts, placeOf } from '../schema/source-place.ts';
import { EXIT, type ExitCode, flag, type Invocation } from './command.ts';
import { checkFile, type LoadedFile } from './load-file.ts';
import { type FileReport, renderReport } from './render/diagnostics.ts';

export async function run({ values, positionals, io }: Invocation): Promise<ExitCode> {
  const checked = positionals.map((file) => checkFile(file, io));
  if (flag(values, 'json')) {
    io.stdout.write(`${JSON.stringify({ files: checked.map(toJson) }, null, 2)}\n`);
  } else {
    for (const { report, loaded } of checked) {
      io.stderr.write(renderReport(report, io));
      if (loaded !== null) io.stdout.write(`${report.file}: ${describe(loaded)}\n`);
    }
    const errors = checked.reduce((sum, { report }) => sum + countErrors(report), 0);
    if (errors > 0) io.stderr.write(`${errors === 1 ? '1 error' : `${errors} errors`}\n`);
  }
  return checked.every(({ loaded }) => loaded !== null) ? EXIT.done : EXIT.invalid;
}

function describe(loaded: LoadedFile): string {
  if (loaded.kind === 'settings') return 'valid settings';
  const { frontEnd, stages } = loaded.workflow;
  const unit = frontEnd === 'job' ? 'task' : 'stage';
  return `valid ${frontEnd}, ${stages.length} ${unit}${stages.length === 1 ? '' : 's'}`;
}

function countErrors({ problem, diagnostics }: FileReport): number {
  return (problem === null ? 0 : 1) + diagnostics.filter(({ severity }) => severity === 'error').length;
}

function toJson({ report, loaded }: ReturnType<typeof checkFile>) {
  const { file, text, problem, diagnostics } = report;
  const starts = lineStarts(text);
  const placed = ({ span, ...told }: Diagnostic) => ({
    ...told,
    ...placeOf(span.start, text, starts),
    end: placeOf(span.end, text, starts),
  });
  const unread = problem === null ? [] : [{ severity: 'error', ...pickTold(problem) }];
  return {
    file,
    valid: loaded !== null,
    kind: loaded === null ? null : loaded.kind === 'settings' ? 'settings' : loaded.workflow.frontEnd,
    diagnostics: [...unread, ...diagnostics.map(placed)],
  };
}

function pickTold({ code, message, hint, at }: NonNullable<FileReport['problem']>) {
  return { code, message: `the file ${message}`, hint, ...at };
}
