import { appendFileSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { expect, test } from 'vitest';
import { type Result, ResultJournal } from '../../runner/result-journal.ts';
import { temporaryFolder } from '../rig/cli.ts';

const made = (token: number): Result => ({
  kind: 'complete',
  item: { token, outcome: 'made' },
  ...{ workflow: 'w', stage: 's', entity: '' },
});

test('what was not acknowledged is there for the next, and the file is empty once all was', () => {
  const file = join(temporaryFolder(), 'results');
  const first = new ResultJournal(file, () => {});
  first.keep([made(1), made(2)]);
  first.taken([1]);
  first.close();
  const second = new ResultJournal(file, () => {});
  expect(second.pending()).toEqual([made(2)]);
  second.taken([2]);
  expect(readFileSync(file, 'utf8')).toBe('');
  second.close();
});

test('a line that a crash cut short takes nothing else with it', () => {
  const file = join(temporaryFolder(), 'results');
  const first = new ResultJournal(file, () => {});
  first.keep([made(1)]);
  first.close();
  appendFileSync(file, '{"kind":"complete","it');
  const second = new ResultJournal(file, () => {});
  expect(second.pending()).toEqual([made(1)]);
  second.keep([made(3)]);
  second.close();
  const third = new ResultJournal(file, () => {});
  expect(third.pending()).toEqual([made(1), made(3)]);
  third.close();
});
