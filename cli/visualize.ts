// `sluice visualize FILE`: the stages and what flows between them, for the terminal or as a file.

import { extname, resolve } from 'node:path';
import { writeFileAtomic } from '../host/atomic-write.ts';
import { shown } from '../schema/diagnostic.ts';
import { CliError, EXIT, type ExitCode, type Invocation, type Io, text } from './command.ts';
import { withoutImplied } from './draw/told-edges.ts';
import { loadFile } from './load-file.ts';
import { orExplain } from './write-error.ts';

export async function run({ values, positionals, io }: Invocation): Promise<ExitCode> {
  const loaded = loadFile(positionals[0]!, io);
  const out = text(values, 'out');
  if (out !== undefined && resolve(io.cwd, out) === loaded.path) throw wouldReplaceIt(out);
  const told = { workflow: loaded.workflow, dag: withoutImplied(loaded.dag) };
  const format = text(values, 'format') ?? formatOf(out);
  const drawn = await draw(format, told, out === undefined ? io : null);
  if (out === undefined) io.stdout.write(drawn);
  else orExplain(() => writeFileAtomic(resolve(io.cwd, out), drawn));
  return EXIT.done;
}

const BY_EXTENSION: Readonly<Record<string, string>> = {
  '.svg': 'svg',
  '.mmd': 'mermaid',
  '.mermaid': 'mermaid',
  '.dot': 'dot',
  '.gv': 'dot',
};

/** `-o p.svg` says enough. */
function formatOf(out: string | undefined): string {
  return BY_EXTENSION[extname(out ?? '').toLowerCase()] ?? 'tree';
}

function wouldReplaceIt(out: string): CliError {
  return new CliError({
    code: 'out-is-the-workflow',
    message: `${shown(out)} is the workflow itself, which the drawing would replace`,
    hint: 'name another file after -o',
  });
}

type Drawable = Pick<ReturnType<typeof loadFile>, 'workflow' | 'dag'>;

/** Each format is loaded only when asked for: the SVG's layout alone costs more than all the others. */
async function draw(format: string, { workflow, dag }: Drawable, terminal: Io | null): Promise<string> {
  switch (format) {
    case 'svg':
      return (await import('./draw/svg.ts')).drawSvg(workflow, dag);
    case 'mermaid':
      return (await import('./draw/mermaid.ts')).drawMermaid(workflow, dag);
    case 'dot':
      return (await import('./draw/dot.ts')).drawDot(workflow, dag);
    default: {
      const { drawTree } = await import('./draw/tree.ts');
      const width = terminal?.isTTY ? terminal.columns : Number.POSITIVE_INFINITY;
      return drawTree(workflow, dag, { color: terminal?.color ?? false, width });
    }
  }
}
