import { readdirSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { expect, test } from 'vitest';
import type { Io } from '../../cli/command.ts';
import { run } from '../../cli/visualize.ts';
import { runSluice, temporaryFolder } from '../rig/cli.ts';
import { fakeIo } from '../rig/fake-io.ts';

const PLAYBOOK = `
stages:
  fetch: {cmd: "make raw", outs: [raw.txt]}
  clean_{x}: {cmd: "cp {{deps[0].path}} {{outs[0].path}}", deps: ["in/{x}.txt"], outs: ["out/{x}.txt"]}
  "<join> & 'x'": {cmd: "cat {{deps[0].path}} {{deps[1].path}}", deps: [raw.txt, "out/{x}.txt"], outs: [all.txt]}
`;

test('visualize draws a text tree by default, every stage once and no escapes when nobody looks', async () => {
  const cwd = temporaryFolder({ 'p.yaml': PLAYBOOK });
  const { code, stdout, stderr } = await runSluice(['visualize', 'p.yaml'], { cwd });
  expect({ code, stderr }).toEqual({ code: 0, stderr: '' });
  for (const row of ['○ fetch', '○ clean_{x}', '● <join>']) expect(stdout.split(row)).toHaveLength(2);
  expect(stdout).not.toContain('\x1b');
});

test.each(['svg', 'mermaid', 'dot'])('visualize --format %s is the same bytes every time', async (format) => {
  const cwd = temporaryFolder({ 'p.yaml': PLAYBOOK });
  const args = ['visualize', 'p.yaml', '--format', format];
  const first = await runSluice([...args, '-o', 'drawing'], { cwd });
  const second = await runSluice(args, { cwd });
  expect([first.code, second.code]).toEqual([0, 0]);
  expect(readFileSync(join(cwd, 'drawing'), 'utf8')).toBe(second.stdout);
});

test('an SVG escapes the names it shows', async () => {
  const cwd = temporaryFolder({ 'p.yaml': PLAYBOOK });
  const { stdout } = await runSluice(['visualize', 'p.yaml', '--format', 'svg'], { cwd });
  expect(stdout).toContain('&lt;join&gt; &amp;');
  expect(stdout).not.toContain('<join>');
});

test('an invalid workflow is told, not drawn, and nothing is written', async () => {
  const cwd = temporaryFolder({ 'p.yaml': 'stages: {a: {after: [b], outs: [x]}}' });
  const { code, stderr } = await runSluice(['visualize', 'p.yaml', '--format', 'svg', '-o', 'p.svg'], {
    cwd,
  });
  expect(code).toBe(2);
  expect(stderr).toContain("unknown stage 'b'");
  expect(readdirSync(cwd)).toEqual(['p.yaml']);
});

test('a place that cannot be written is explained', async () => {
  const cwd = temporaryFolder({ 'p.yaml': PLAYBOOK });
  const { code, stderr } = await runSluice(['visualize', 'p.yaml', '-o', 'no/such/p.txt'], { cwd });
  expect(code).toBe(1);
  expect(stderr).toContain('cannot write');
  expect(stderr).not.toContain('at ');
});

test('the tree has colours and fits the terminal only if a person looks at it', async () => {
  const cwd = temporaryFolder({ 'p.yaml': PLAYBOOK });
  const drawn = async (overrides: Partial<Io>, values = {}) => {
    const io = fakeIo({ cwd, ...overrides });
    await run({ values, positionals: ['p.yaml'], io });
    return io.written.stdout;
  };
  expect(await drawn({ isTTY: true, color: true, columns: 60 })).toContain('\x1b[');
  expect(await drawn({ isTTY: false, color: false, columns: 60 })).not.toContain('\x1b[');
  expect(await drawn({ isTTY: true, color: true }, { out: 'tree.txt' })).toBe('');
  expect(readFileSync(join(cwd, 'tree.txt'), 'utf8')).toBe(await drawn({}));
});

test('the drawing never replaces the workflow it was made from', async () => {
  const cwd = temporaryFolder({ 'p.yaml': PLAYBOOK });
  const { code, stderr } = await runSluice(['visualize', 'p.yaml', '-o', './p.yaml'], { cwd });
  expect(code).toBe(1);
  expect(stderr).toContain('→ name another file after -o');
  expect(readFileSync(join(cwd, 'p.yaml'), 'utf8')).toBe(PLAYBOOK);
});

test('the extension of -o says the format where --format does not', async () => {
  const cwd = temporaryFolder({ 'p.yaml': PLAYBOOK });
  await runSluice(['visualize', 'p.yaml', '-o', 'p.svg'], { cwd });
  expect(readFileSync(join(cwd, 'p.svg'), 'utf8')).toMatch(/^<svg /);
});

test('an after that other edges imply is not drawn', async () => {
  const cwd = temporaryFolder({
    'p.yaml': `
stages:
  a: {cmd: x, outs: [a.txt]}
  b: {cmd: x, deps: [a.txt], outs: [b.txt]}
  c: {cmd: x, deps: [b.txt], outs: [c.txt], after: [a]}
  d: {cmd: x, after: [c]}
`,
  });
  const { stdout } = await runSluice(['visualize', 'p.yaml', '--format', 'dot'], { cwd });
  expect(stdout.match(/->/g)).toHaveLength(3);
  expect(stdout.match(/dashed/g)).toHaveLength(1);
});
