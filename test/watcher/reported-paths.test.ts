import { appendFileSync, readFileSync, statSync } from 'node:fs';
import { join } from 'node:path';
import { expect, test } from 'vitest';
import type { Blake3 } from '../../schema/words.ts';
import { Reported } from '../../watcher/reported.ts';
import { temporaryFolder } from '../rig/cli.ts';

const TO = { database: 1, definition: 'blake3:1' };
const seen = (path: string, digit = 'a') => ({ path, hash: `blake3:${digit.repeat(64)}` as Blake3, size: 1 });

function kept() {
  const file = join(temporaryFolder(), 'reported', 'p');
  const open = (to = TO) => new Reported(file, to);
  const first = open();
  for (const name of ['x', 'two\nlines', '"quoted"', 'é']) first.took(seen(`/in/${name}`));
  first.took(seen('/out/x'));
  first.save();
  return { file, open };
}

test('what was told is known when it is opened again, whatever the names', () => {
  const again = kept().open();
  expect(again.size).toBe(5);
  expect(again.isNews(seen('/in/two\nlines'))).toBe(false);
  expect(again.isNews(seen('/in/x', 'b'))).toBe(true);
  expect(again.isNews({ path: '/in/nothing', gone: true })).toBe(false);
});

test('what was about to be told when the process died is told again, also that it is gone', () => {
  const { open } = kept();
  open().doubt([seen('/in/x', 'b'), { path: '/out/x', gone: true }]);
  const again = open();
  expect(again.isNews(seen('/in/x', 'a'))).toBe(true);
  expect(again.isNews({ path: '/out/x', gone: true })).toBe(true);
});

test('one more path costs a line, however many there are', () => {
  const { file, open } = kept();
  const again = open();
  const before = statSync(file).ino;
  again.took(seen('/in/new'));
  again.save();
  expect(statSync(file).ino).toBe(before);
  expect(readFileSync(file, 'utf8').trim().split('\n').at(-1)).toContain('"new"');
});

test('a line that was cut off is left out, and a file that makes no sense is no reason to tell nothing', () => {
  const { file, open } = kept();
  appendFileSync(file, '+aaaa');
  expect(open().size).toBe(5);
  appendFileSync(file, 'nonsense\n');
  expect(open().isNews(seen('/in/x'))).toBe(true);
});

test('what a look has not seen is listed, below a path or everywhere', () => {
  const { open } = kept();
  const reported = open();
  reported.beginLook();
  reported.saw('/in/x');
  expect(reported.unseen('/out')).toEqual(['/out/x']);
  expect(reported.unseen('/in/x')).toEqual([]);
  expect(reported.unseen('/')).toHaveLength(4);
});
