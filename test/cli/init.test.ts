import { spawnSync } from 'node:child_process';
import { existsSync, mkdirSync, readdirSync, readFileSync, symlinkSync } from 'node:fs';
import { dirname, join } from 'node:path';
import { describe, expect, test } from 'vitest';
import { STARTER_PLAYBOOK } from '../../cli/starter.ts';
import { loadWorkflow } from '../../schema/load-workflow.ts';
import { parseTemplate } from '../../schema/template/parse.ts';
import { renderShell } from '../../schema/template/render-shell.ts';
import { runSluice, temporaryFolder } from '../rig/cli.ts';

const read = (...path: string[]) => readFileSync(join(...path), 'utf8');
const ignored = (...path: string[]) => read(...path, '.gitignore').split('\n');

describe('init', () => {
  test('writes a starter that validates without a word of complaint, and says what to do next', async () => {
    const cwd = temporaryFolder();
    expect(await runSluice(['init'], { cwd })).toEqual({
      code: 0,
      stdout: [
        'wrote texts/gate.txt',
        'wrote texts/river.txt',
        'wrote .gitignore',
        'wrote playbook.yaml',
        'next: sluice run playbook.yaml',
        '',
      ].join('\n'),
      stderr: '',
    });
    expect(await runSluice(['validate', 'playbook.yaml'], { cwd })).toMatchObject({ code: 0, stderr: '' });
    expect((await runSluice(['visualize', 'playbook.yaml'], { cwd })).stdout).toContain('● report');
  });

  test('makes the directories it needs, and names files as seen from where it was called', async () => {
    const cwd = temporaryFolder();
    const { code, stdout } = await runSluice(['init', 'books/my first.yaml'], { cwd });
    expect(code).toBe(0);
    expect(stdout).toContain('wrote books/texts/river.txt\n');
    expect(stdout).toContain("next: sluice run 'books/my first.yaml'\n");
    expect(existsSync(join(cwd, 'books/my first.yaml'))).toBe(true);
  });

  test('refuses a file that exists, with the next step, and writes nothing', async () => {
    const cwd = temporaryFolder({ 'playbook.yaml': 'mine' });
    symlinkSync('nowhere', join(cwd, 'link.yaml'));
    for (const file of ['playbook.yaml', 'link.yaml', '.']) {
      const { code, stdout, stderr } = await runSluice(['init', file], { cwd });
      expect({ code, stdout }).toEqual({ code: 1, stdout: '' });
      expect(stderr).toBe(`sluice: ${file} exists already\n  → name another file: sluice init FILE\n`);
    }
    expect(readdirSync(cwd).sort()).toEqual(['link.yaml', 'playbook.yaml']);
    expect(read(cwd, 'playbook.yaml')).toBe('mine');
  });

  test('adds no samples to a folder that holds something already', async () => {
    const cwd = temporaryFolder({ 'texts/river.txt': 'mine' });
    expect((await runSluice(['init'], { cwd })).stdout).not.toContain('wrote texts');
    expect([readdirSync(join(cwd, 'texts')), read(cwd, 'texts/river.txt')]).toEqual([['river.txt'], 'mine']);
  });

  test.each([
    ['texts', 'a file where the samples belong'],
    ['.gitignore/x', 'a directory where git’s list belongs'],
    ['sub', 'a file where the playbook’s directory belongs'],
  ])('explains what is in its way (%s: %s), and can be called again', async (name) => {
    const cwd = temporaryFolder({ [name]: '' });
    const file = name === 'sub' ? 'sub/playbook.yaml' : 'playbook.yaml';
    const { code, stderr } = await runSluice(['init', file], { cwd });
    expect(code).toBe(1);
    expect(stderr).toMatch(/^sluice: cannot write .*\n {2}→ .+\n$/);
    expect(existsSync(join(cwd, file))).toBe(false);
  });
});

describe('the .gitignore after init', () => {
  test('leaves out the state and what is made, and keeps lock files and event logs', async () => {
    const cwd = temporaryFolder();
    await runSluice(['init'], { cwd });
    spawnSync('git', ['init', '-q'], { cwd });
    const paths = ['.sluice/state.db', '.sluice-ab12.report.txt', 'counts/river.txt', 'report.txt'];
    const kept = ['playbook.yaml', 'playbook.lock.yaml', 'playbook.events.jsonl', 'texts/river.txt'];
    const { stdout } = spawnSync('git', ['check-ignore', ...paths, ...kept], { cwd, encoding: 'utf8' });
    expect(stdout.trim().split('\n')).toEqual(paths);
  });

  test('init generates gitignore that keeps the playbook, its proofs and its reports, whatever was left out before', async () => {
    const cwd = temporaryFolder({ '.gitignore': '*.yaml\n*.jsonl\nreports/\n' });
    spawnSync('git', ['init', '-q'], { cwd });
    for (const file of ['p.yaml', 'books/q [1].yaml']) {
      await runSluice(['init', file], { cwd });
      const stem = file.replace('.yaml', '');
      const kept = [file, `${stem}.lock.yaml`, `${stem}.events.jsonl`, join(dirname(file), 'reports/a.json')];
      const left = ['secrets.yaml', join(dirname(file), 'secrets.yaml')];
      const { stdout } = spawnSync('git', ['check-ignore', ...kept, ...left], {
        cwd,
        encoding: 'utf8',
      });
      expect(stdout.trim().split('\n')).toEqual(left);
    }
  });

  test('still has the lines that were there, and none twice', async () => {
    const cwd = temporaryFolder({ '.gitignore': 'node_modules/\r\n.sluice/' });
    await runSluice(['init', 'a.yaml'], { cwd });
    const before = read(cwd, '.gitignore');
    expect(before.startsWith('node_modules/\r\n.sluice/\n')).toBe(true);
    const lines = ignored(cwd).filter((line) => line !== '');
    expect(new Set(lines).size).toBe(lines.length);
    await runSluice(['init', 'b.yaml'], { cwd });
    expect(read(cwd, '.gitignore')).toBe(`${before}!/b.yaml\n`);
  });

  test('names the state where it will be: at the root of the project', async () => {
    const cwd = temporaryFolder();
    mkdirSync(join(cwd, '.git'));
    await runSluice(['init', 'books/p.yaml'], { cwd });
    expect(ignored(cwd)).toEqual(expect.arrayContaining(['.sluice/', '!*.lock.yaml']));
    expect(ignored(cwd)).not.toContain('/counts/');
    expect(ignored(cwd, 'books')).toContain('/counts/');
    expect(ignored(cwd, 'books')).not.toContain('.sluice/');
  });
});

describe('the starter', () => {
  const loaded = loadWorkflow(STARTER_PLAYBOOK, { name: 'playbook', root: '/x' });
  if (loaded.kind !== 'workflow') throw new Error('the starter does not load');
  const { workflow, dag } = loaded;

  test('shows a param, a stage with an entity per file, and one that collects them', () => {
    expect(workflow.params).toEqual({ longest: 10 });
    expect(workflow.stages.map(({ variables, deps }) => [variables, deps.map((d) => d.binding)])).toEqual([
      [['text'], ['one']],
      [[], ['collected']],
    ]);
    expect(dag.edges).toHaveLength(1);
  });

  test('has commands that any sh can run, on names with spaces too', () => {
    const cwd = temporaryFolder({ 'texts/a b.txt': 'one two three\n', 'texts/c.txt': 'one\n' });
    const run = (stage: number, deps: readonly (string | string[])[], out: string, text?: string) => {
      const { action, variables } = workflow.stages[stage]!;
      if (action.kind !== 'shell') throw new Error('not a command');
      const entity: Record<string, string> = text === undefined ? {} : { text };
      const scope = { params: workflow.params, entity, deps, outs: [out], stages: {}, names: {} };
      const cmd = renderShell(parseTemplate(action.cmd, { variables, dialect: 'braces' }), scope);
      if (!cmd.ok) throw new Error(JSON.stringify(cmd));
      mkdirSync(join(cwd, dirname(out)), { recursive: true });
      expect(spawnSync('sh', ['-eu', '-c', cmd.value], { cwd, encoding: 'utf8' })).toMatchObject({
        status: 0,
        stderr: '',
      });
    };
    const texts = ['c', 'a b'];
    for (const text of texts) run(0, [`texts/${text}.txt`], `counts/${text}.txt`, text);
    run(1, [texts.map((text) => `counts/${text}.txt`)], 'report.txt');
    expect(read(cwd, 'report.txt').replaceAll(/: +/g, ':')).toBe('counts/a b.txt:3\ncounts/c.txt:1\n');
  });
});
