// The examples of docs/http.md, asked of a real server in the order of the page, get the answers that stand there.
//
// After a change that is meant, `SLUICE_WRITE_DOCS=1 npx vitest run test/docs-http.test.ts` writes them anew.

import { mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { afterAll, beforeAll, expect, test } from 'vitest';
import { createApp } from '../api/app.ts';
import { listen } from '../api/node.ts';
import { openDatabase } from '../api/open-database.ts';
import type { Parts } from '../api/parts.ts';
import { loadBlake3 } from '../host/blake3.ts';
import { asBlake3 } from '../schema/blake3.ts';

const PAGE = fileURLToPath(new URL('../docs/http.md', import.meta.url));
const page = readFileSync(PAGE, 'utf8');
const NOW_MS = Date.UTC(2026, 10, 18, 12);

interface Block {
  readonly language: string;
  readonly text: string;
  /** Where its text begins in the page. */
  readonly start: number;
}

interface Example {
  readonly command: string;
  readonly answer: Block;
}

const blocks = [...page.matchAll(/^```(\w+)\n([\s\S]*?)^```$/gm)].map(
  ({ 1: language, 2: text, index }): Block => ({
    ...{ language: language!, text: text! },
    start: index + 3 + language!.length + 1,
  }),
);

const examples = blocks.flatMap((block, i): Example[] =>
  block.language === 'sh' && block.text.startsWith('api ')
    ? [{ command: block.text.trim(), answer: blocks[i + 1]! }]
    : [],
);

let url: string;
/** The one that was told last. */
let definition: string;
let token: string;
let paths: Readonly<Record<string, Readonly<Record<string, { description?: string }>>>>;
let stop: () => Promise<void>;

beforeAll(async () => {
  const folder = mkdtempSync(join(tmpdir(), 'sluice-docs-'));
  const db = await openDatabase({ url: join(folder, 'state.db') }, NOW_MS);
  const parts: Parts = {
    ...{ db, hash: loadBlake3().hash, nowMs: () => NOW_MS, randomBytes: predictable, version: '0.1.0' },
    ...{ access: null, rate: { perSecond: 1e6, burst: 1e6 }, report: (error) => console.error(error) },
  };
  const app = createApp(parts);
  const admin = { kind: 'process', name: 'docs', scopes: ['admin'], workflow: null, target: null } as const;
  const made = await app.fetch(
    new Request('http://docs/api/tokens', {
      method: 'POST',
      headers: { 'Content-Type': 'application/json' },
      body: JSON.stringify({ name: 'admin (first start)', scopes: ['admin'] }),
    }),
    { trusted: admin },
  );
  token = ((await made.json()) as { token: string }).token;
  const server = await listen(app, { port: 0, hostname: '127.0.0.1' });
  url = server.url;
  ({ paths } = (await (await fetch(`${url}/api/openapi.json`)).json()) as { paths: typeof paths });
  stop = async () => {
    await server.stop();
    await db.close();
    rmSync(folder, { recursive: true });
  };
});
afterAll(() => stop());

let calls = 0;

/** Unlike each other, but the same on every day: the page shows what was made of them. */
function predictable(count: number): Uint8Array {
  if (count === 6) return Uint8Array.of(0x0a, 0x1b, 0x2c, 0x3d, 0x4e, 0x5f);
  calls += 1;
  return Uint8Array.from({ length: count }, (_, i) => (i === count - 1 ? calls : 7));
}

test('every example gets the answer that stands below it', async () => {
  const written: [Block, string][] = [];
  for (const { command, answer } of examples) {
    const told = await tell(command, answer);
    if (process.env.SLUICE_WRITE_DOCS === '1') written.push([answer, told]);
    else expect(shortened(answer.text), command).toBe(shortened(told));
  }
  if (written.length > 0) writeFileSync(PAGE, rewritten(written));
});

test('every endpoint stands in the table, with its scope', () => {
  const listed = new Map(
    [...page.matchAll(/^\| `(\w+ [^`]+)` \| ?(\w*) \|/gm)].map(([, endpoint, scope]) => [endpoint, scope]),
  );
  const real = new Map(
    Object.entries(paths).flatMap(([path, operations]) =>
      Object.entries(operations).map(([method, { description }]) => [
        `${method.toUpperCase()} ${path}`,
        /scope (\w+)/.exec(description ?? '')?.[1] ?? '',
      ]),
    ),
  );
  // The empty entity has addresses of its own, which the page tells in a sentence.
  for (const endpoint of real.keys())
    if (/entity(\/|\/\/retry|\/retry)?$/.test(endpoint!)) real.delete(endpoint);
  expect(Object.fromEntries(listed)).toEqual(Object.fromEntries(real));
});

async function tell(command: string, answer: Block): Promise<string> {
  const leaving = new AbortController();
  const response = await fetch(...requestOf(command, leaving.signal));
  if (answer.language === 'text') {
    const first = await response.body!.getReader().read();
    leaving.abort();
    return `${new TextDecoder().decode(first.value).split('\n\n')[0]}\n`;
  }
  if (answer.language === 'json') {
    const value = (await response.json()) as { definition?: string };
    definition = value.definition ?? definition;
    return `${layout(value)}\n`;
  }
  await response.body?.cancel();
  const names = answer.text
    .trim()
    .split('\n')
    .slice(1)
    .map((line) => line.split(':')[0]!);
  const headers = names.map((name) => `${name}: ${response.headers.get(name)}\n`);
  return `${response.status}\n${headers.join('')}`;
}

/** Of curl's options the few that the page uses. */
function requestOf(command: string, signal: AbortSignal): [string, RequestInit] {
  const words = shellWords(command).slice(1);
  const headers: Record<string, string> = {
    Authorization: `Bearer ${token}`,
    'Content-Type': 'application/json',
  };
  let address = '';
  let method: string | undefined;
  let body: string | undefined;
  for (let word = words.shift(); word !== undefined; word = words.shift()) {
    if (word === '-X') method = words.shift();
    else if (word === '-d') body = words.shift();
    else if (word === '--data-binary') body = fileNamed(words.shift()!.slice(1));
    else if (!word.startsWith('-')) address = word;
  }
  const sent = body === undefined ? {} : { body };
  return [address, { method: method ?? (body === undefined ? 'GET' : 'POST'), headers, signal, ...sent }];
}

function fileNamed(name: string): string {
  return blocks.find(({ text }) => text.startsWith(`# ${name}\n`))!.text;
}

/** What follows `$` is an address, or stands for the hash of some content. */
function shellWords(command: string): string[] {
  const expanded = (name: string) =>
    name === 'URL'
      ? url
      : name === 'DEFINITION'
        ? definition
        : asBlake3(loadBlake3().hash(new TextEncoder().encode(name)));
  const words: string[] = [];
  for (const [word] of command.matchAll(/(?:'[^']*'|"[^"]*"|[^\s'"])+/g)) {
    const parts = word.match(/'[^']*'|"[^"]*"|[^'"]+/g)!;
    const plain = parts.map((part) => {
      if (part.startsWith("'")) return part.slice(1, -1);
      return part.replace(/^"|"$/g, '').replace(/\$(\w+)/g, (_, name: string) => expanded(name));
    });
    words.push(plain.join(''));
  }
  return words;
}

/** Changes with every change of a format; what matters is that it is a hash. */
function shortened(text: string): string {
  return text
    .replace(/blake3:[0-9a-f]+…?/g, 'blake3:…')
    .replace(/sluice_[\w-]+…?/g, 'sluice_…')
    .replace(/"database": ?\d+/g, '"database": 0')
    .replace(/ETag: .*/g, 'ETag: "…"');
}

function rewritten(answers: readonly [Block, string][]): string {
  let text = page;
  for (const [{ start, text: before }, told] of [...answers].reverse()) {
    const short = told
      .replace(/(blake3:[0-9a-f]{8})[0-9a-f]{56}/g, '$1…')
      .replace(/(sluice_[\w-]{6})[\w-]+/g, '$1…')
      .replace(/ETag: .*/g, 'ETag: "…"');
    text = text.slice(0, start) + short + text.slice(start + before.length);
  }
  return text;
}

const WIDTH = 110;

/** On one line what fits there; of plain fields as many to a line as fit. */
function layout(value: unknown, indent = ''): string {
  const flat = JSON.stringify(value);
  if (typeof value !== 'object' || value === null || indent.length + flat.length <= WIDTH) return flat;
  const inner = `${indent}  `;
  const [open, close, parts] = Array.isArray(value)
    ? ['[', ']', value.map((each) => layout(each, inner))]
    : ['{', '}', Object.entries(value).map(([k, v]) => `${JSON.stringify(k)}: ${layout(v, inner)}`)];
  return `${open}\n${filled(parts, inner)}\n${indent}${close}`;
}

function filled(parts: readonly string[], indent: string): string {
  const lines: string[] = [];
  for (const [i, part] of parts.entries()) {
    const text = i === parts.length - 1 ? part : `${part},`;
    const last = lines.at(-1);
    const isPlain = !/[[{]/.test(`${last}${text}`) && `${last} ${text}`.length <= WIDTH;
    if (last !== undefined && isPlain) lines[lines.length - 1] = `${last} ${text}`;
    else lines.push(indent + text);
  }
  return lines.join('\n');
}
