import { appendFileSync, readdirSync, readFileSync, statSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { expect, test } from 'vitest';
import { openJournal, unendedIn } from '../../runner/journal.ts';
import { endLeftovers } from '../../runner/leftovers.ts';
import { temporaryFolder } from '../rig/cli.ts';

const file = () => join(temporaryFolder(), '.sluice', 'journal');
const group = (id: number, workDir = `/w/${id}`) => ({ id, startTime: '42', workDir });

test('tells which groups were started and have not ended, under any name of a work directory', () => {
  const path = file();
  const journal = openJournal(path);
  const odd = group(3, '/w/a b\n- 2\n"');
  for (const started of [group(2), odd, group(4)]) journal.started(started);
  journal.gone(4);
  expect(unendedIn(path)).toEqual([group(2), odd]);
  journal.gone(2);
  journal.gone(3);
  expect(unendedIn(path)).toEqual([]);
  journal.close();
});

test('keeps what an earlier owner wrote until the leftovers are ended', () => {
  const path = file();
  const first = openJournal(path);
  first.started(group(2));
  first.close();
  openJournal(path).close();
  expect(unendedIn(path)).toEqual([group(2)]);
});

test('a line that was cut short counts as not written', () => {
  const path = file();
  openJournal(path).close();
  appendFileSync(path, '+ 7 42 "/w/7"\n+ 8 42 "/w/8"');
  expect(unendedIn(path).map(({ id }) => id)).toEqual([7]);
});

test('what was written before the last boot is forgotten', () => {
  const path = join(temporaryFolder(), 'journal');
  writeFileSync(path, 'boot another\n+ 7 42 "/w/7"\n');
  openJournal(path).close();
  expect(unendedIn(path)).toEqual([]);
});

test('stays small however many commands were run', () => {
  const path = file();
  const journal = openJournal(path);
  for (let n = 2; n < 10_000; n++) {
    const id = 2 + (n % 4);
    journal.started(group(id, `/w/${n}`));
    if (n % 10 === 0) journal.gone(id);
    else journal.ended(id);
  }
  for (const id of [2, 3, 4, 5]) journal.gone(id);
  journal.started(group(9));
  journal.close();
  expect(statSync(path).size).toBeLessThan(70_000);
  expect(readFileSync(path, 'utf8')).toMatch(/^boot /);
  expect(unendedIn(path)).toEqual([group(9)]);
});

test('without a journal there are no leftovers', async () => {
  expect(await endLeftovers(file())).toEqual([]);
});

test('what a dead runner left half-made beside its place is removed, and nothing else that a journal names', async () => {
  const folder = temporaryFolder({
    '.sluice-t1.a.txt': '',
    '.sluice-t2.b/in': '',
    '.sluice-t3.c': '',
    'a.txt': '',
    'mine.txt': '',
  });
  const path = join(folder, 'journal');
  const journal = openJournal(path);
  const at = (name: string) => join(folder, name);
  journal.making([at('.sluice-t1.a.txt'), at('.sluice-t2.b')]);
  journal.making([at('.sluice-t9.renamed'), at('mine.txt')]);
  journal.close();
  expect(await endLeftovers(path)).toEqual([]);
  expect(readdirSync(folder).sort()).toEqual(['.sluice-t3.c', 'a.txt', 'journal', 'mine.txt']);
  expect(readFileSync(path, 'utf8')).toBe('');
});

test('a runner that ends in good order leaves nothing to be looked through', () => {
  const path = file();
  const journal = openJournal(path);
  journal.making(['/o/.sluice-t1.a'])();
  journal.close();
  expect(readFileSync(path, 'utf8')).toMatch(/^boot .*\n$/);
});
