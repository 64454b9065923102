import { spawnSync } from 'node:child_process';
import { mkdirSync, readdirSync, truncateSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { describe, expect, test } from 'vitest';
import { run } from '../../cli/validate.ts';
import { temporaryFolder } from '../rig/cli.ts';
import { fakeIo } from '../rig/fake-io.ts';

async function validate(content: string, file = 'p.yaml') {
  const cwd = temporaryFolder({ [file]: content });
  const result = await validateIn(cwd, file);
  expect(readdirSync(cwd)).toEqual([file]);
  return result;
}

async function validateIn(cwd: string, ...files: string[]) {
  const io = fakeIo({ cwd });
  const code = await run({ values: {}, positionals: files, io });
  return { code, ...io.written };
}

const stages = (yaml: string) => `stages:\n${yaml}`;

/** What is written, the place it is told at, and words that the fact and the remedy must contain. */
const BAD: readonly [name: string, content: string, place: string, ...words: string[]][] = [
  [
    'unknown key',
    stages('  a:\n    cmd: x\n    dep: [y]\n'),
    '4:5',
    "unknown key 'dep'",
    "did you mean 'deps'",
  ],
  ['unknown top-level key', 'stage:\n  a: {cmd: x}\n', '1:1', "unknown key 'stage'", "did you mean 'stages'"],
  ['wrong type', stages('  a: {cmd: [x]}\n'), '2:12', 'expected text', 'a list'],
  ['duplicate key', stages('  a: {cmd: x}\n  a: {cmd: y}\n'), '3:3', 'stands twice', 'rename'],
  ['tab indentation', 'stages:\n\ta: {cmd: x}\n', '2:1', 'spaces'],
  ['empty file', '  \n', '1:1', 'empty', 'sluice init'],
  ['cyclic after', stages('  a: {cmd: x, after: [b]}\n  b: {cmd: y, after: [a]}\n'), '2:3', '→', 'remove'],
  [
    'unknown stage in after',
    stages('  a: {cmd: x, after: [bb]}\n  b: {cmd: y}\n'),
    '2:23',
    "unknown stage 'bb'",
    "'b'",
  ],
  ['unknown target', stages('  a: {cmd: x, target: moon}\n'), '2:23', "unknown target 'moon'", 'targets:'],
  [
    'unknown param',
    `params: {speed: 1}\n${stages('  a: {cmd: x, params: [sped]}\n')}`,
    '3:24',
    "unknown param 'sped'",
    "'speed'",
  ],
  [
    'unknown param in a template',
    `params: {nape: 1}\n${stages('  a: {cmd: "x {{params.nope}}"}\n')}`,
    '3:',
    "unknown param 'nope'",
    "stage 'a'",
    "'nape'",
  ],
  [
    'two stages with one out',
    stages('  a: {cmd: x, outs: [o]}\n  b: {cmd: y, outs: [o]}\n'),
    '3:22',
    "'a' and 'b' both write o",
  ],
  ['one out twice in a stage', stages('  a: {cmd: x, outs: [o, ./o]}\n'), '2:25', "stage 'a' lists o twice"],
  [
    'an out inside another one of the stage',
    stages('  a: {cmd: x, outs: [d/, d/o]}\n'),
    '2:26',
    "stage 'a' writes d/o inside its own out d/",
  ],
  ['an out inside its own dep', stages('  a: {cmd: x, deps: [d/], outs: [d/o]}\n'), '2:34', 'its own dep'],
  ['a wildcard in outs that no dep binds', stages('  a: {cmd: x, outs: ["o/{x}"]}\n'), '2:', '{x}'],
  [
    'a pattern that leads upwards',
    stages('  a: {cmd: x, deps: ["../{x}"], outs: ["o/{x}"]}\n'),
    '2:22',
    '..',
  ],
  ['a duration nobody knows', stages('  a: {cmd: x, resources: {timeout: 5 parsecs}}\n'), '2:36', 'parsecs'],
  ['a negative limit', stages('  a: {cmd: x, retry: {limit: -1}}\n'), '2:30', 'too small', 'at least 0'],
  [
    'max_workers: 0',
    stages('  a: {cmd: x, deps: [d/], outs: [o/], parallel: {strategy: per_file, max_workers: 0}}\n'),
    '2:',
    'at least 1',
  ],
  ['a bad cron', 'schedule: "61 * * * *"\ntasks:\n  a: {program: x}\n', '1:11', 'is not a schedule'],
  ['a cron that never fires', 'schedule: "0 0 0 30 2 *"\ntasks:\n  a: {program: x}\n', '1:11', 'never'],
  [
    'a time zone nobody knows',
    'schedule: "@daily"\ntimezone: Mars\ntasks:\n  a: {program: x}\n',
    '2:11',
    "'Mars'",
  ],
  [
    'an unknown dependency of a task',
    'tasks:\n  a: {program: x, depends_on: [b]}\n',
    '2:32',
    "unknown stage 'b'",
  ],
  ['a pipeline without mode', '{"stages": [{"id": "a"}]}', '1:2', 'mode: pipeline'],
  [
    'then without if',
    'mode: pipeline\nstateRoot: s\nstages:\n  - {id: a, type: source, pattern: "{x}.md"}\n  - {id: b, type: transform, input: a, pattern: "{x}.t", node: {typeId: set}, then: {typeId: set}}\n',
    '5:',
    "'then'",
  ],
  [
    'an unknown field of a command node',
    'mode: pipeline\nstateRoot: s\nstages:\n  - {id: a, type: source, pattern: "{x}.md"}\n  - {id: b, type: transform, input: a, pattern: "{x}.t", node: {typeId: command, data: {cmd: x, cdm: y}}}\n',
    '5:',
    "'cdm'",
  ],
  [
    'a value where no quoting is safe',
    `params: {x: 1}\n${stages('  a: {cmd: "echo `id {{params.x}}`"}\n')}`,
    '3:',
    '{{params.x}} stands',
  ],
  [
    'a path with a variable that YAML takes for a map',
    stages('  a:\n    cmd: x\n    deps: [in/{x}.txt]\n    outs: ["o/{x}"]\n'),
    '4:15',
    'in quotes',
    '1 error',
  ],
  [
    'a placeholder that is not closed, after others that are',
    `params: {x: 1}\n${stages('  a: {cmd: "x {{params.x}} {{params.x"}\n')}`,
    '3:28',
    'not closed',
  ],
  ['an empty command', stages('  a: {cmd: ""}\n'), '2:12', 'stages.a.cmd is empty', 'write text'],
  [
    'an out around its own dep',
    stages('  a: {cmd: x, deps: [d/i], outs: [d/]}\n'),
    '2:35',
    "'a' writes d/ around its own dep d/i",
  ],
  [
    'one resource in two units',
    stages('  a: {cmd: x, resources: {memory_gb: 1, memory_bytes: 5, cores: 1, cpu_cores: 2}}\n'),
    '2:55',
    "'memory_bytes' and 'memory_gb' say the same thing",
    "'cpu_cores' and 'cores'",
    'keep one of the two',
  ],
  [
    'a time zone without a schedule',
    'timezone: Europe/Berlin\ntasks:\n  a: {program: x}\n',
    '1:11',
    "'timezone' has no meaning here",
    'schedule',
  ],
  [
    'what a source cannot do',
    'mode: pipeline\nstateRoot: s\nstages:\n  - {id: a, type: source, pattern: "{x}.md", frozen: true}\n',
    '4:54',
    "'frozen' has no meaning here",
    'only watched',
  ],
  ['a list', '- a\n- b\n', '1:1', 'not a map'],
];

describe('each mistake is exit code 2 with the place, the fact and the remedy, and nothing is written', () => {
  test.each(BAD)('%s', async (_, content, place, ...words) => {
    const { code, stderr, stdout } = await validate(content);
    expect(code).toBe(2);
    expect(stderr).toContain(`p.yaml:${place}`);
    expect(stderr).toMatch(/^ +│ .*\^/m);
    for (const word of ['→', ...words]) expect(stderr).toContain(word);
    expect(stderr).not.toMatch(/^ +at /m);
    expect(stdout).toBe('');
  });

  test('absolute and relative forms of one path', async () => {
    const cwd = temporaryFolder();
    writeFileSync(
      join(cwd, 'p.yaml'),
      stages(`  a: {cmd: x, outs: [o]}\n  b: {cmd: y, deps: [${cwd}/o], outs: [p]}\n`),
    );
    const { code, stderr } = await validateIn(cwd, 'p.yaml');
    expect(code).toBe(2);
    expect(stderr).toContain('one path in two forms');
  });

  test('an alias bomb', async () => {
    const levels = [...'bcdefghij'].map((c, i) => `${c}: &${c} [${`*${'abcdefghi'[i]},`.repeat(9)}]`);
    const { code, stderr } = await validate(`a: &a [x]\n${levels.join('\n')}\nstages: {s: {cmd: x}}\n`);
    expect(code).toBe(2);
    expect(stderr).toContain('expand too far');
  });

  test('a file of 100 MB is refused without being read', async () => {
    const cwd = temporaryFolder({ 'p.yaml': '' });
    truncateSync(join(cwd, 'p.yaml'), 100 * 1024 ** 2);
    expect(await validateIn(cwd, 'p.yaml')).toMatchObject({
      code: 2,
      stderr: expect.stringContaining('100 MB'),
    });
  });

  test.each([
    ['bytes that are no UTF-8', Buffer.from([0xff, 0xfe, 0x00, 0x80]), '1:1', 'byte 0xff', 'saved as UTF-8'],
    [
      'one letter of an old encoding',
      Buffer.from('name: x\ndescription: caf\xe9\n', 'latin1'),
      '2:17',
      '0xe9',
    ],
    ['a NUL', Buffer.from('stages:\n  é: {cmd: "x\0y"}\n'), '2:14', 'NUL'],
    ['half a character at the end', Buffer.from([0x61, 0xe2, 0x82]), '1:2', '0xe2'],
  ])('a binary file: %s', async (_, bytes, place, ...words) => {
    const cwd = temporaryFolder();
    writeFileSync(join(cwd, 'p.yaml'), bytes);
    const { code, stderr } = await validateIn(cwd, 'p.yaml');
    expect(code).toBe(2);
    expect(stderr).toContain(`p.yaml:${place} `);
    for (const word of ['→', ...words]) expect(stderr).toContain(word);
    expect(stderr).not.toContain('\0');
  });

  test('a pipe that nobody writes into is refused, not waited for', async () => {
    const cwd = temporaryFolder();
    expect(spawnSync('mkfifo', [join(cwd, 'p.yaml')]).status).toBe(0);
    const { code, stderr } = await validateIn(cwd, 'p.yaml');
    expect(code).toBe(2);
    expect(stderr).toContain('p.yaml is not a regular file');
  });

  test('a directory, and a file that is not there', async () => {
    const cwd = temporaryFolder();
    mkdirSync(join(cwd, 'd'));
    const { code, stderr } = await validateIn(cwd, 'd', 'nope.yaml');
    expect(code).toBe(2);
    expect(stderr).toContain('d is a directory');
    expect(stderr).toContain('nope.yaml does not exist');
  });
});

test('all mistakes of all files are told at once', async () => {
  const cwd = temporaryFolder({
    'a.yaml': stages('  a: {cmd: x, after: [q], target: moon}\n'),
    'b.yaml': stages('  a: {cmd: x, nope: 1}\n'),
    'c.yaml': stages('  a: {cmd: x}\n'),
  });
  const { code, stderr, stdout } = await validateIn(cwd, 'a.yaml', 'b.yaml', 'c.yaml');
  expect(code).toBe(2);
  expect(stderr).toContain("unknown stage 'q'");
  expect(stderr).toContain("unknown target 'moon'");
  expect(stderr).toContain("unknown key 'nope'");
  expect(stderr).toContain('3 errors');
  expect(stdout).toBe('c.yaml: valid playbook, 1 stage\n');
});

test('validate --json tells the same as one document', async () => {
  const cwd = temporaryFolder({ 'a.yaml': stages('  a: {cmd: x, after: [q]}\n') });
  const io = fakeIo({ cwd });
  expect(await run({ values: { json: true }, positionals: ['a.yaml'], io })).toBe(2);
  expect(JSON.parse(io.written.stdout)).toMatchObject({
    files: [{ file: 'a.yaml', valid: false, diagnostics: [{ code: 'unknown-stage', line: 2, column: 23 }] }],
  });
  expect(io.written.stderr).toBe('');
});

test('validate --json tells the place of a byte that is no text', async () => {
  const cwd = temporaryFolder();
  writeFileSync(join(cwd, 'a.yaml'), Buffer.from('name: caf\xe9\n', 'latin1'));
  const io = fakeIo({ cwd });
  expect(await run({ values: { json: true }, positionals: ['a.yaml'], io })).toBe(2);
  expect(JSON.parse(io.written.stdout)).toMatchObject({
    files: [{ valid: false, diagnostics: [{ code: 'binary-file', line: 1, column: 10 }] }],
  });
});

test('the caret stands under the mistake, and a long line is cut around it', async () => {
  const { stderr } = await validate(stages(`  a: {cmd: "${'x'.repeat(300)}", after: [q]}\n`));
  const [, line, marks] = stderr.split('\n');
  expect([...line!].length).toBeLessThan(90);
  expect(line![marks!.indexOf('^')]).toBe('q');
});

test('a name with control characters is shown escaped', async () => {
  const { stderr } = await validate('stages: {"a\\e[31m": {cmd: x, after: [b]}}\n');
  expect(stderr).not.toContain('\x1b');
});
