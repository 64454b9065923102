import { execFileSync } from 'node:child_process';
import { chmodSync, readFileSync, statSync } from 'node:fs';
import { join } from 'node:path';
import { expect, test } from 'vitest';
import { runSluice } from '../rig/cli.ts';
import { project } from '../rig/project.ts';

const VALUE = 's3cret/value"with\'quotes$and more';
const CALL = `
secrets: [API_KEY, OTHER]
stages:
  call:
    cmd: |
      echo run >> runs.log
      echo "said $API_KEY"; printf %s "x$API_KEY" | base64 >&2; printf %s "$API_KEY" | od -An -tx1 | tr -d ' \\n' >&2
      test -z "\${OTHER:-}"
      printf %s "$API_KEY" | wc -c > {{outs[0].path}}
      test ! -e fail
    deps: [in.txt]
    outs: [out.txt]
    secrets: [API_KEY]
`;

const rigged = () => {
  const p = project({ 'p.yaml': CALL, 'in.txt': 'x\n' });
  const run = (env: Record<string, string>, ...args: string[]) =>
    runSluice(['run', 'p.yaml', ...args], { cwd: p.root, env });
  return { ...p, run };
};

/** Everything that is written anywhere in the project. */
function leaks(root: string, value: string): string {
  const forms = [
    value,
    Buffer.from(value).toString('hex'),
    Buffer.from(`x${value}`).toString('base64').slice(4, 40),
  ];
  return forms
    .map((form) => {
      try {
        return execFileSync('grep', ['-rlaF', '--', form, root]).toString();
      } catch {
        return '';
      }
    })
    .join('');
}

test('a secret reaches the command that names it and nothing else, however the command writes it', async () => {
  const p = rigged();
  const { code, stdout, stderr } = await p.run({ API_KEY: VALUE, OTHER: 'not for you' });
  expect(stderr + stdout).not.toContain(VALUE);
  expect(code).toBe(0);
  expect(p.read('out.txt').trim()).toBe(String(VALUE.length));
  expect(leaks(p.root, VALUE)).toBe('');
  const [work] = execFileSync('find', [join(p.root, '.sluice/work'), '-name', '.stdout'])
    .toString()
    .split('\n');
  expect(readFileSync(work!, 'utf8')).toBe('said ***\n');
});

test('what a failed command said of it is masked in the error, the event log and debug', async () => {
  const p = rigged();
  p.write('fail', '');
  const { code, stdout, stderr } = await p.run({ API_KEY: VALUE });
  expect(code).toBe(1);
  expect(stderr).toContain('***');
  expect(stderr + stdout).not.toContain(VALUE);
  expect(stderr).not.toContain(Buffer.from(VALUE).toString('hex'));
  expect(leaks(p.root, VALUE)).toBe('');
});

test('the digest of a secret is part of the key: it stands in the lock file, and another value is told as a reason', async () => {
  const p = rigged();
  await p.run({ API_KEY: VALUE });
  const same = await p.run({ API_KEY: VALUE });
  expect(p.runs('run')).toBe(1);
  expect(same.code).toBe(0);
  p.write('in.txt', 'y\n');
  const { stderr } = await p.run({ API_KEY: 'a new one' });
  expect(stderr).toMatch(/params_hash changed: secret API_KEY/);
  expect(p.runs('run')).toBe(2);
  expect(p.read('p.lock.yaml')).toContain('secret API_KEY');
});

test('a secret that is not set is refused by name, and nothing runs', async () => {
  const p = rigged();
  const { code, stderr } = await p.run({});
  expect(code).toBe(1);
  expect(stderr).toContain('API_KEY');
  expect(stderr).not.toContain('OTHER');
  expect(p.has('runs.log')).toBe(false);
});

test('secrets come from a file that only its owner may read', async () => {
  const p = rigged();
  p.write('keys', `# mine\nAPI_KEY="two\\nlines of it"\n`);
  chmodSync(join(p.root, 'keys'), 0o644);
  expect((await p.run({}, '--secrets', 'keys')).stderr).toContain('chmod 600');
  chmodSync(join(p.root, 'keys'), 0o600);
  expect(statSync(join(p.root, 'keys')).mode & 0o777).toBe(0o600);
  expect((await p.run({}, '--secrets', 'keys')).code).toBe(0);
  expect(p.read('out.txt').trim()).toBe('15');
  p.write('keys', 'API_KEY s3cret');
  const { stderr } = await p.run({}, '--secrets', 'keys');
  expect(stderr).toContain('line 1');
  expect(stderr).not.toContain('s3cret');
});
