// `agent`: a configured program reads the prompt and the files on its stdin, and what it prints is the out.
//
//   the prompt
//                                        an empty line
//   --- notes/a.txt (12 bytes) ---       one such line before each file
//   …                                    its content, ended by a line break

import { existsSync } from 'node:fs';
import { resolve } from 'node:path';
import * as z from 'zod';
import { shown } from '../../schema/diagnostic.ts';
import { type Command, FILES } from '../launch-script.ts';
import { howEnded } from './ended.ts';
import { expandGlob, filesAt } from './glob.ts';
import { defineNode, type NodeWork } from './node.ts';
import { readBytes } from './read-content.ts';
import { failedForNow, noPart, type Part, part } from './result.ts';
import { writeOut } from './write-out.ts';

/** Where a person puts the agent's command for all workflows of a machine. */
export const AGENT_VARIABLE = 'SLUICE_AGENT';

const data = z.strictObject({
  prompt: z.string().min(1),
  /** Globs; without it, the stage's own deps. */
  input_files: z.array(z.string().min(1)).optional(),
  /** Shell code, or a program and its arguments. */
  command: z
    .union([z.string().min(1), z.array(z.string()).min(1)], { error: 'expected text or a list of texts' })
    .optional(),
});

export const agent = defineNode({
  version: 1,
  data,
  run: async (written, work) => {
    const command = commandOf(written.command, work);
    if (!command.ok) return command.failed;
    const prompt = work.fill.text(written.prompt);
    if (!prompt.ok) return prompt.failed;
    const files =
      written.input_files === undefined ? depFiles(work) : matchedFiles(written.input_files, work);
    if (!files.ok) return files.failed;
    const stdin = letter(prompt.value, files.value, work);
    if (!stdin.ok) return stdin.failed;
    const executed = await work.execute({ command: command.value, env: {}, stdin: stdin.value });
    const ended = howEnded(executed);
    if (ended !== null) return ended;
    const answer = answerIn(executed.workDir, work);
    if (!answer.ok) return answer.failed;
    if (answer.value.length === 0) return failedForNow('the agent ended well but answered nothing');
    return writeOut(work.out, answer.value);
  },
});

function commandOf(written: string | readonly string[] | undefined, work: NodeWork): Part<Command> {
  const { fill, agentCommand } = work;
  if (typeof written === 'string') {
    const script = fill.shell(written);
    return script.ok ? part({ kind: 'shell', script: `${script.value}\n` }) : script;
  }
  if (written !== undefined) return programOf(written, fill.argument);
  if (agentCommand === null)
    return noPart(
      `no agent is configured: set ${AGENT_VARIABLE} to the command that reads a prompt on its stdin, ` +
        "or write 'command' into the node's data",
    );
  // The runner's own is no template: it was not written for this workflow.
  if (typeof agentCommand === 'string') return part({ kind: 'shell', script: `${agentCommand}\n` });
  return programOf(agentCommand, part);
}

function programOf(words: readonly string[], fill: (word: string) => Part<string>): Part<Command> {
  const filled: string[] = [];
  for (const word of words) {
    const text = fill(word);
    if (!text.ok) return text;
    filled.push(text.value);
  }
  const [program = '', ...args] = filled;
  return part({ kind: 'program', program, args });
}

/** In the order of the globs, each file once. */
function matchedFiles(globs: readonly string[], { fill, root }: NodeWork): Part<readonly string[]> {
  const files = new Set<string>();
  for (const written of globs) {
    const glob = fill.glob(written);
    const found = glob.ok ? expandGlob(root, glob.value) : glob;
    if (!found.ok) return found;
    for (const file of found.value) files.add(file);
  }
  return part([...files]);
}

function depFiles({ scope, root }: NodeWork): Part<readonly string[]> {
  const files = new Set<string>();
  for (const path of scope.deps.flat()) {
    const found = filesAt(root, path);
    if (!found.ok) return found;
    for (const file of found.value) files.add(file);
  }
  return part([...files]);
}

function letter(prompt: string, files: readonly string[], { root, limits }: NodeWork): Part<Buffer> {
  const parts: Buffer[] = [Buffer.from(withLineBreak(prompt))];
  let left = limits.inputBytes - parts[0]!.length;
  for (const path of files) {
    const bytes = readBytes({ path, file: resolve(root, path), limits });
    if (!bytes.ok) return bytes;
    left -= bytes.value.length;
    if (left < 0)
      return noPart(`the agent's files have more than ${limits.inputBytes} bytes together; give it fewer`);
    // Shown, so that a name with line breaks cannot pass for another file's beginning.
    parts.push(Buffer.from(`\n--- ${shown(path)} (${bytes.value.length} bytes) ---\n`), bytes.value);
    if (bytes.value.length > 0 && bytes.value.at(-1) !== 0x0a) parts.push(Buffer.from('\n'));
  }
  return part(Buffer.concat(parts));
}

function withLineBreak(text: string): string {
  return text.endsWith('\n') ? text : `${text}\n`;
}

/** A command that said nothing leaves no file. */
function answerIn(workDir: string, { limits }: NodeWork): Part<Buffer> {
  const file = resolve(workDir, FILES.stdout);
  if (!existsSync(file)) return part(Buffer.alloc(0));
  const ofAnswer = { ...limits, inputBytes: limits.answerBytes };
  return readBytes({ path: 'the answer on stdout', file, limits: ofAnswer });
}
