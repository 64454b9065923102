import { appendFileSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { describe, expect, test } from 'vitest';
import type { Blake3 } from '../../schema/words.ts';
import { type Addressee, Reported } from '../../watcher/reported.ts';
import { temporaryFolder } from '../rig/cli.ts';

const HERE: Addressee = { database: 1, definition: 'd' };
const seen = (path: string, mark: string) => ({
  path,
  hash: `blake3:${mark.padStart(64, '0')}` as Blake3,
  size: 1,
});
const pathsIn = (reported: Reported) => {
  reported.beginLook();
  return reported.unseen('/');
};

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
  expect(pathsIn(new Reported(file, HERE))).toEqual(['/a', '/c', '/d']);
});

test('a file that has grown is written anew', () => {
  const file = told();
  const next = new Reported(file, HERE);
  for (let i = 0; i < 5_000; i++) {
    next.isNews(seen('/a', String(i)));
    next.took(seen('/a', String(i)));
    next.save();
  }
  expect(readFileSync(file, 'utf8').split('\n').length).toBeLessThan(4_100);
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
    expect(pathsIn(new Reported(file, addressee))).toEqual(ALL);
  });

  test('once', () => {
    const file = told();
    new Reported(file, HERE).open();
    const next = new Reported(file, HERE);
    for (const path of pathsIn(next)) next.took(seen(path, '1'));
    next.save();
    expect(newsTo(file)).toEqual([]);
  });
});

function cutOff(file: string): void {
  const { length } = readFileSync(file);
  new Reported(file, HERE).open();
  const opened = readFileSync(file).length;
  expect(opened).toBeGreaterThan(length);
  appendFileSync(file, 'D "/"\n+');
}
