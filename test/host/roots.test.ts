import { expect, test } from 'vitest';
import { rootPairOf, toHere, toRegistered } from '../../host/roots.ts';

const OPTIONS = [
  { workflow: null, dir: '/srv/all' },
  { workflow: 'news', dir: '/srv/news' },
];

test('a workflow with a root of its own is there, every other one under the general root', () => {
  expect(rootPairOf('news', '/home/ada/news', OPTIONS).here).toBe('/srv/news');
  expect(rootPairOf('blog', '/home/ada/blog', OPTIONS).here).toBe('/srv/all');
  expect(rootPairOf('blog', '/home/ada/blog', []).here).toBe('/home/ada/blog');
});

test.each([
  ['/home/ada/news/in/a.txt', '/srv/news/in/a.txt'],
  ['/home/ada/news', '/srv/news'],
  ['/home/ada/newspaper/a.txt', '/home/ada/newspaper/a.txt'],
  ['/data/shared/{x}.csv', '/data/shared/{x}.csv'],
])('%s is %s here, and back', (registered, here) => {
  const pair = rootPairOf('news', '/home/ada/news', OPTIONS);
  expect(toHere(registered, pair)).toBe(here);
  expect(toRegistered(here, pair)).toBe(registered);
});
