// Every example does what its page says: the command as written there, and then again.

import { spawn } from 'node:child_process';
import { cpSync, existsSync, readdirSync, readFileSync, symlinkSync } from 'node:fs';
import { createServer } from 'node:net';
import { join } from 'node:path';
import { text } from 'node:stream/consumers';
import { fileURLToPath } from 'node:url';
import { describe, expect, inject, test } from 'vitest';
import { temporaryFolder } from '../rig/cli.ts';

const ROOT = fileURLToPath(new URL('../..', import.meta.url));

interface Expected {
  readonly ran: number;
  /** Of the second run; all of it is cached unless told otherwise. */
  readonly ranAgain?: number;
  /** By a false condition: told the first time, and then as cached. */
  readonly skipped?: number;
  readonly outputs: Readonly<Record<string, string | RegExp>>;
}

const EXPECTED: Readonly<Record<string, Expected>> = {
  'auto-blog': {
    ran: 4,
    outputs: {
      'output/summaries/2026-01-15.txt': /2026-01-15\.\n\* mended the sluice gate\n/,
      'output/blogs/2026-01-16.md':
        '# A day at the mill\n\nWe oiled the axle.\nWe counted the sacks of flour.\n',
    },
  },
  'echo-pipeline': {
    ran: 4,
    outputs: {
      'states/c/ahoy.txt': 'ahoy says: ahoy ahoy\n',
      'states/c/hello.txt': 'hello says: hello hello\n',
    },
  },
  'feed-digest': {
    ran: 5,
    outputs: {
      'feeds/digests/mills.md': '- New paint for the wheel\n',
      'feeds/digests/rivers.md': '- Ducklings counted\n- The river is back in its bed\n',
    },
  },
  media: {
    ran: 7,
    outputs: {
      'transcripts/gate.txt': 'nobody opens the gate before noon\n',
      'index.txt': /\b10 transcripts\/ice\.txt\n/,
      'media.events.jsonl': /"event":"stage_retry"/,
    },
  },
  news: {
    ran: 6,
    skipped: 2,
    outputs: {
      'data/scores/mills/202.json': '{"score":3}',
      'data/notifications/mills/201.json': /High water at the \\"old\\" mill/,
    },
  },
  nightly: { ran: 2, ranAgain: 2, outputs: { 'backups/texts.tar.gz': /./ } },
  'word-count': { ran: 3, outputs: { 'report.txt': 'counts/river.txt:10\ncounts/gate.txt:9\n' } },
};

test('every example is tried here, and nothing else lies beside them', () => {
  expect(readdirSync(join(ROOT, 'examples')).sort()).toEqual(Object.keys(EXPECTED).sort());
});

describe.each(Object.entries(EXPECTED))('%s', (name, { ran, ranAgain = 0, skipped = 0, outputs }) => {
  test('its page is short, and its command makes what it says, once', async () => {
    const page = readFileSync(join(ROOT, 'examples', name, 'README.md'), 'utf8');
    expect(page.split('\n').length).toBeLessThan(16);
    const place = copyOf(name);
    const env = { NEWS_PORT: String(await freePort()) };
    for (const command of commandsIn(page)) {
      expect(await shell(command, { cwd: place.root, env })).toContain(`${name}: ${ran} run, 0 cached`);
      for (const [file, content] of Object.entries(outputs)) {
        const made = readFileSync(join(place.example, file), 'utf8');
        if (typeof content === 'string') expect(made).toBe(content);
        else expect(made).toMatch(content);
      }
      const again = await shell(command, { cwd: place.root, env });
      expect(again).toContain(`${name}: ${ranAgain} run, ${ran - ranAgain + skipped} cached`);
      if (ranAgain === 0) expect(again).not.toContain('✓');
    }
  });
});

test('news: what is worth little is not announced, and nobody is told twice', async () => {
  const { root, example } = copyOf('news');
  const env = { NEWS_PORT: String(await freePort()) };
  const [command] = commandsIn(readFileSync(join(example, 'README.md'), 'utf8'));
  const heard = (said: string) => said.match(/^#news {2}.*$/gm)?.sort() ?? [];
  const announced = ['#news  High water at the "old" mill', '#news  The river is back in its bed'];
  expect(heard(await shell(command!, { cwd: root, env }))).toEqual(announced);
  expect(existsSync(join(example, 'data/notifications/mills/202.json'))).toBe(false);
  expect(heard(await shell(command!, { cwd: root, env }))).toEqual([]);
});

const MADE = [
  /\/(\.sluice|summaries|blogs|titles|digests|audio|transcripts|scores|notifications|counts)$/,
  /\/states\/[bc]$/,
  /\/(index\.txt|report\.txt)$|\.(lock\.yaml|events\.jsonl|tar\.gz)$/,
];

/** A checkout's root with the program and this example in it, as the page expects, without what runs left behind. */
function copyOf(name: string): { readonly root: string; readonly example: string } {
  const failure = inject('buildFailure');
  if (failure !== '') throw new Error(`the program could not be built:\n${failure}`);
  const root = temporaryFolder();
  const example = join(root, 'examples', name);
  const copied = { recursive: true, filter: (path: string) => !MADE.some((made) => made.test(path)) };
  cpSync(join(ROOT, 'examples', name), example, copied);
  symlinkSync(join(ROOT, 'bin'), join(root, 'bin'));
  return { root, example };
}

function commandsIn(page: string): string[] {
  const commands = [...page.matchAll(/```sh\n([\s\S]*?)```/g)].flatMap(([, block]) =>
    block!.trim().split('\n'),
  );
  expect(commands).toHaveLength(1);
  return commands;
}

interface Place {
  readonly cwd: string;
  readonly env: Readonly<Record<string, string>>;
}

async function shell(command: string, { cwd, env }: Place): Promise<string> {
  const child = spawn('sh', ['-c', `${command} 2>&1`], {
    cwd,
    env: { PATH: process.env.PATH, HOME: cwd, ...env },
    stdio: ['ignore', 'pipe', 'inherit'],
  });
  const closed = new Promise<number | null>((resolve) => child.on('close', resolve));
  const [said, code] = await Promise.all([text(child.stdout), closed]);
  expect(code, said).toBe(0);
  return said;
}

async function freePort(): Promise<number> {
  const server = createServer().listen(0, '127.0.0.1');
  await new Promise((resolve) => server.once('listening', resolve));
  const { port } = server.address() as { port: number };
  await new Promise((resolve) => server.close(resolve));
  return port;
}
