// Any name that a file can have is a name, in every place where a command meets it; and edits that clocks hide.

import { execFileSync } from 'node:child_process';
import { readdirSync, readFileSync, statSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { describe, expect, test } from 'vitest';
import { project } from '../rig/project.ts';

const NAMES = [
  '$(touch pwned).txt',
  '`touch pwned`.txt',
  'a b;c.txt',
  '; touch pwned; .txt',
  '-rf',
  '--help.txt',
  `'".txt`,
  `'; touch pwned; '.txt`,
  '"; touch pwned; ".txt',
  'new\nline.txt',
  'ends in newline\n',
  'tab\tand\\back\\slash.txt',
  '*.txt',
  '[a-z]?.txt',
  '{a,b}.txt',
  '{{input}}.txt',
  '~root.txt',
  '#comment.txt',
  '$HOME ${x}.txt',
  '!history.txt',
  'emoji 🎻 é e\u0301.txt',
  '%s%n.txt',
  `${'n'.repeat(251)}.txt`,
];

const files = Object.fromEntries(NAMES.map((name) => [`in/${name}`, `content of ${name}\n`]));

function expectCopied(p: ReturnType<typeof project>): void {
  for (const name of NAMES) expect(p.read(`out/${name}`), name).toBe(`content of ${name}\n`);
  const all = readdirSync(p.root, { recursive: true, encoding: 'utf8' });
  expect(all.filter((name) => /(^|\/)pwned/.test(name))).toEqual([]);
}

describe('every name is a name', () => {
  test.each([
    ['a bare word', 'cp {{deps[0].path}} {{outs[0].path}}'],
    ['double quotes', 'cat < "{{deps[0].path}}" > "{{outs[0].path}}"'],
    ['single quotes', "cat < '{{deps[0].path}}' > '{{outs[0].path}}'"],
    ['a substitution', 'cat "$(printf %s {{deps[0].path}}; echo x | tr -d "x\\n")" > {{outs[0].path}}'],
  ])('of a wildcard entity, in %s', async (where, cmd) => {
    // A substitution takes away a newline at the end of a name: that is the shell's own rule.
    const names = where === 'a substitution' ? NAMES.filter((name) => !name.endsWith('\n')) : NAMES;
    const p = project({
      'p.yaml': JSON.stringify({ stages: { 'c_{x}': { cmd, deps: ['in/{x}'], outs: ['out/{x}'] } } }),
      ...Object.fromEntries(names.map((name) => [`in/${name}`, `content of ${name}\n`])),
    });
    const run = await p.run();
    expect(run, JSON.stringify(run.states.filter(({ status }) => status === 'failed'))).toMatchObject({
      code: 0,
      states_run: names.length,
    });
    for (const name of names) expect(p.read(`out/${name}`), name).toBe(`content of ${name}\n`);
    expect(p.has('pwned')).toBe(false);
  });

  const fanned = (cmd: string, parallel: object) => ({
    'p.yaml': JSON.stringify({
      stages: { up: { cmd, deps: [{ path: 'in/' }], outs: [{ path: 'out/' }], parallel } },
    }),
    ...files,
  });

  test.each([
    ['per_file', 'cp {{input}} {{output}}', { strategy: 'per_file' }],
    [
      'chunked, as words',
      'for f in {{inputs}}; do cp "$f" ./"${f##*/}"; done',
      { strategy: 'chunked', chunk_size: 5 },
    ],
    [
      'chunked, as a list of names ended by NUL',
      'xargs -0 -I @ cp @ . < {{input_list}}0',
      { strategy: 'chunked', chunk_size: 5 },
    ],
  ])('of a fan-out, %s', async (_how, cmd, parallel) => {
    const p = project(fanned(cmd, parallel));
    const run = await p.run();
    expect(run, JSON.stringify(run.states.filter(({ status }) => status === 'failed'))).toMatchObject({
      code: 0,
    });
    expectCopied(p);
    expect(await p.run()).toMatchObject({ code: 0, states_run: 0 });
  });

  test('of a collected dep', async () => {
    const p = project({
      'p.yaml': JSON.stringify({
        stages: { all: { cmd: 'cat {{deps[0].path}} > {{outs[0].path}}', deps: ['in/{x}'], outs: ['all'] } },
      }),
      ...files,
    });
    expect(await p.run()).toMatchObject({ code: 0, states_run: 1 });
    for (const name of NAMES) expect(p.read('all')).toContain(`content of ${name}\n`);
  });

  test('of a param, as an argument of a program and in the shell', async () => {
    for (const value of NAMES) {
      const p = project({
        'p.yaml': JSON.stringify({
          name: 'j',
          config: { value },
          tasks: {
            t: {
              type: 'command',
              program: 'sh',
              args: ['-c', 'printf %s "$1" > arg; printf %s "$V" > env', 'sh', '${config.value}'],
              env: { V: '${config.value}' },
            },
          },
        }),
      });
      expect(await p.run(), value).toMatchObject({ code: 0 });
      expect([p.read('arg'), p.read('env')]).toEqual([value, value]);
      expect(p.has('pwned')).toBe(false);
      if (NAMES.indexOf(value) > 11) return;
    }
  }, 60_000);
});

describe('a name that is not UTF-8 is reported, not skipped', () => {
  const odd = (root: string, folder: string) => {
    writeFileSync(Buffer.concat([Buffer.from(join(root, folder, 'x')), Buffer.from([0xff])]), 'odd');
  };

  test.each([
    [
      'wildcard',
      { 'c_{x}': { cmd: 'cp {{deps[0].path}} {{outs[0].path}}', deps: ['in/{x}'], outs: ['out/{x}'] } },
    ],
    [
      'fan-out',
      {
        up: {
          cmd: 'cp {{input}} {{output}}',
          deps: [{ path: 'in/' }],
          outs: [{ path: 'out/' }],
          parallel: { strategy: 'per_file' },
        },
      },
    ],
    ['directory dep', { all: { cmd: 'ls in > {{outs[0].path}}', deps: ['in/'], outs: ['all'] } }],
  ])('in a %s', async (_where, stages) => {
    const p = project({ 'p.yaml': JSON.stringify({ stages }), 'in/a': 'a' });
    odd(p.root, 'in');
    const { code, stderr, stdout } = await p.sluice('run', 'p.yaml');
    expect(code).toBe(1);
    expect(stderr + stdout).toContain('x\\xff');
    expect(stderr + stdout).toContain('not UTF-8');
  });
});

describe('an edit that the clock hides is noticed', () => {
  const one = () =>
    project({
      'p.yaml': 'stages: {a: {cmd: "cat {{deps[0].path}} > {{outs[0].path}}", deps: [in], outs: [o]}}',
      in: 'aaaa',
    });

  test('made in the same tick as the last look, 10 of 10', async () => {
    const p = one();
    for (let i = 0; i < 10; i++) {
      p.write('in', `${i}${i}${i}${i}`);
      await p.run();
      p.write('in', `${i}x${i}x`);
      expect(await p.run(), `edit ${i}`).toMatchObject({ states_run: 1 });
      expect(p.read('o')).toBe(`${i}x${i}x`);
    }
  });

  test('of the same size, with its mtime restored, 10 of 10', async () => {
    const p = one();
    await p.run();
    for (let i = 0; i < 10; i++) {
      const file = join(p.root, 'in');
      const before = statSync(file, { bigint: true });
      execFileSync('touch', ['-r', file, join(p.root, 'stamp')]);
      writeFileSync(file, `${i}bcd`);
      execFileSync('touch', ['-r', join(p.root, 'stamp'), file]);
      const { mtimeNs, size } = statSync(file, { bigint: true });
      expect([mtimeNs, size]).toEqual([before.mtimeNs, before.size]);
      expect(await p.run(), `edit ${i}`).toMatchObject({ states_run: 1 });
      expect(readFileSync(join(p.root, 'o'), 'utf8')).toBe(`${i}bcd`);
    }
  });
});
