import { appendFileSync, readFileSync, statSync } from 'node:fs';
import { join } from 'node:path';
import { expect, test } from 'vitest';
import { Reported } from '../../watcher/reported.ts';
import { temporaryFolder } from '../rig/cli.ts';

const TO = { database: 1, definition: 'blake3:1' };
const seen = (path: string, digit = 'a') => ({ path, hash: `blake3:${digit.repeat(64)}`, size: 1 });

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

test('to another database or definition everything is news', () => {
  const { open } = kept();
  expect(open({ ...TO, database: 2 }).size).toBe(0);
  expect(open({ ...TO, definition: 'blake3:2' }).isNews(seen('/in/x'))).toBe(true);
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

test('a line that was cut off is left out, and a file that makes no sense says nothing', () => {
  const { file, open } = kept();
  appendFileSync(file, '+aaaa');
  expect(open().size).toBe(5);
  appendFileSync(file, 'nonsense\n');
  expect(open().size).toBe(0);
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
