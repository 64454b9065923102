// The one place that knows the process's own streams: who is looking, in how many columns, with colours or not.

import type { Io, Terminal } from '../command.ts';

export function processIo(): Io {
  const { stdout, stderr, env } = process;
  return {
    stdout,
    stderr,
    env,
    cwd: process.cwd(),
    isTTY: stdout.isTTY === true,
    columns: stdout.columns ?? 80,
    // Both streams, because one answer serves both: a log file made by `2>log` must stay free of escapes.
    color: wantsColor(env, stdout.isTTY === true && stderr.isTTY === true),
    ...(stderr.isTTY ? { terminal: terminalAt(stderr) } : {}),
  };
}

/** A serial line or a pipe made to look like a terminal has 0 columns. */
function terminalAt(stream: NodeJS.WriteStream): Terminal {
  return {
    write: (text) => stream.write(text),
    get columns() {
      return stream.columns || 80;
    },
    get rows() {
      return stream.rows || 24;
    },
  };
}

/** NO_COLOR (no-color.org) wins over FORCE_COLOR, and both over what the terminal looks like. */
export function wantsColor(env: Io['env'], isTTY: boolean): boolean {
  if (env.NO_COLOR) return false;
  if (env.FORCE_COLOR) return env.FORCE_COLOR !== '0';
  return isTTY && env.TERM !== 'dumb';
}

/** EPIPE among them: the reader has gone away, as in `sluice log | head -1`. */
export function onOutputError(callback: (error: NodeJS.ErrnoException) => void): void {
  process.stdout.on('error', callback);
  process.stderr.on('error', callback);
}

const STYLES = {
  bold: [1, 22],
  dim: [2, 22],
  red: [31, 39],
  green: [32, 39],
  yellow: [33, 39],
  blue: [34, 39],
  cyan: [36, 39],
} as const;

export type Style = keyof typeof STYLES;

/** The text in the given style, or as it is where colours are not wanted. */
export function paint(io: Pick<Io, 'color'>, style: Style, text: string): string {
  if (!io.color) return text;
  const [on, off] = STYLES[style];
  return `\x1b[${on}m${text}\x1b[${off}m`;
}
