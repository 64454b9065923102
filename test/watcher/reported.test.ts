import { appendFileSync, readFileSync, truncateSync } from 'node:fs';
import { join } from 'node:path';
import { describe, expect, test } from 'vitest';
import type { Blake3 } from '../../schema/words.ts';
import { type Addressee, Reported } from '../../watcher/reported.ts';
import { temporaryFolder } from '../rig/cli.ts';

const HERE: Addressee = { database: 1, definition: 'd' };
const seen = (path: string, hash: string) => ({ path, hash: hash as Blake3, size: 1 });

/** In which `a` and `b` were told, and all of it was saved. */
function told(): string {
  const file = join(temporaryFolder({}), 'own', 'reported');
  const first = new Reported(file, HERE);
  expect(first.isNews(seen('/a', '1'))).toBe(true);
  for (const path of ['/a', '/b', '/c', '/d']) first.took(seen(path, '1'));
  first.save();
  return file;
}

const newsTo = (file: string, addressee = HERE) => {
  const reported = new Reported(file, addressee);
  return ['/a', '/b', '/c', '/d'].filter((path) => reported.isNews(seen(path, '1')));
};
const ALL = ['/a', '/b', '/c', '/d'];

test('what was told is no news to the next process', () => {
  const file = told();
  expect(newsTo(file)).toEqual([]);
  expect(new Reported(file, HERE).isNews(seen('/a', '2'))).toBe(true);
});

test('one change is added to the file, by who need not know what is in it', () => {
  const file = told();
  const before = readFileSync(file, 'utf8');
  const next = new Reported(file, null);
  next.took(seen('/a', '2'));
  next.took({ path: '/b', gone: true });
  next.save();
  expect(readFileSync(file, 'utf8').startsWith(before)).toBe(true);
  expect(newsTo(file)).toEqual(['/a', '/b']);
  expect(new Reported(file, HERE).paths()).toEqual(['/a', '/c', '/d']);
});

test('a file that has grown is written anew', () => {
  const file = told();
  for (let i = 0; i < 20; i++) {
    const next = new Reported(file, HERE);
    next.isNews(seen('/a', String(i)));
    next.took(seen('/a', String(i)));
    next.save();
  }
  expect(readFileSync(file, 'utf8').length).toBeLessThan(500);
  expect(newsTo(file)).toEqual(['/a']);
});

describe('is told anew, what is gone included,', () => {
  test.each<readonly [string, (file: string) => void, Addressee]>([
    ['to another database', () => {}, { ...HERE, database: 2 }],
    ['under another definition', () => {}, { ...HERE, definition: 'other' }],
    ['after a death between telling and saving', (file) => new Reported(file, HERE).open(), HERE],
    ['after a death in the middle of saving', (file) => cutOff(file), HERE],
  ])('%s', (_, happens, addressee) => {
    const file = told();
    happens(file);
    expect(newsTo(file, addressee)).toEqual(ALL);
    expect(new Reported(file, addressee).paths()).toEqual(ALL);
  });

  test('once', () => {
    const file = told();
    new Reported(file, HERE).open();
    const next = new Reported(file, HERE);
    for (const path of next.paths()) next.took(seen(path, '1'));
    next.save();
    expect(newsTo(file)).toEqual([]);
  });
});

function cutOff(file: string): void {
  const { length } = readFileSync(file);
  appendFileSync(file, '"open"\n[["/a","2"]]\n');
  truncateSync(file, length + '"open"\n[["/a"'.length);
}
