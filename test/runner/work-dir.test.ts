import { existsSync, mkdirSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import fc from 'fast-check';
import { expect, test } from 'vitest';
import { loadBlake3 } from '../../host/blake3.ts';
import { removeWorkDir, workBase, workDirOf } from '../../runner/work-dir.ts';
import { temporaryFolder } from '../rig/cli.ts';

const { hash } = loadBlake3();

test.each([
  [null, '/p/.sluice/work'],
  ['scratch', '/p/flows/scratch'],
  ['/fast/scratch', '/fast/scratch'],
])('work directories for policy.work_dir %s are under %s', (policyWorkDir, base) => {
  expect(workBase({ own: '/p/.sluice', workflowDir: '/p/flows', policyWorkDir })).toBe(base);
});

test('every attempt has its own directory inside the base, whatever its id', () => {
  fc.assert(
    fc.property(fc.string({ unit: 'grapheme' }), fc.string({ unit: 'grapheme' }), (a, b) => {
      expect(workDirOf('/base', a, hash)).toMatch(/^\/base\/[0-9a-f]{2}\/[0-9a-f]{30}$/);
      expect(workDirOf('/base', a, hash) === workDirOf('/base', b, hash)).toBe(a === b);
    }),
  );
});

test('a removed work directory is gone with all it holds, and may be gone already', () => {
  const workDir = workDirOf(temporaryFolder(), '1', hash);
  mkdirSync(join(workDir, 'deep'), { recursive: true });
  writeFileSync(join(workDir, 'deep', 'file'), '');
  expect(removeWorkDir(workDir)).toBe(true);
  expect(existsSync(workDir)).toBe(false);
  expect(removeWorkDir(workDir)).toBe(true);
});

test('a work directory that cannot be removed is told, not thrown', () => {
  expect(removeWorkDir('/proc/self/task')).toBe(false);
});
