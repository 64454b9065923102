import { existsSync, readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { expect, test } from 'vitest';
import { openLogBook } from '../../runner/log-book.ts';
import { temporaryFolder } from '../rig/cli.ts';

test('what commands said is kept one after the other, and the oldest file goes when there are five', () => {
  const [folder, workDir] = [temporaryFolder(), temporaryFolder()];
  const book = openLogBook(folder, 100);
  book.keep('silent', workDir);
  expect(existsSync(join(folder, 'log'))).toBe(false);
  for (let i = 1; i <= 7; i++) {
    writeFileSync(join(workDir, '.stdout'), `out ${i}\n${'x'.repeat(80)}`);
    writeFileSync(join(workDir, '.stderr'), `err ${i}\n`);
    book.keep(`p/s@${i}`, workDir);
  }
  expect(readFileSync(join(folder, 'log'), 'utf8')).toBe(`== p/s@7\nout 7\n${'x'.repeat(80)}err 7\n\n`);
  expect(readFileSync(join(folder, 'log.4'), 'utf8')).toContain('p/s@3');
  expect(existsSync(join(folder, 'log.5'))).toBe(false);
});
