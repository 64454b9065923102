// One table of words: what each surface calls a state.

import { expect, test } from 'vitest';
import {
  COUNTED_WORDS,
  countedWordsOf,
  isSettled,
  PIPELINE_WORDS,
  pipelineWord,
  runWord,
  STATE_WORDS,
  STORED_WORDS,
} from '../../schema/status-words.ts';

test.each([
  ['fresh', 'complete', 'cached', true],
  ['edited', 'complete', 'cached', true],
  ['skipped', 'complete', 'cached', true],
  ['orphan', 'orphan', null, true],
  ['stale', 'stale', 'waiting', false],
  ['waiting', 'stale', 'waiting', false],
  ['blocked', 'stale', 'skipped', false],
  ['running', 'processing', 'waiting', false],
  ['failed', 'failed', 'failed', false],
  ['exhausted', 'failed', 'failed', false],
] as const)('%s is %s to pipelines and %s to a run that starts nothing', (word, pipeline, run, settled) => {
  expect([pipelineWord(word), runWord(word), isSettled(word)]).toEqual([pipeline, run, settled]);
});

test('every counted word belongs to exactly one word of pipelines', () => {
  expect(PIPELINE_WORDS.flatMap(countedWordsOf).toSorted()).toEqual([...COUNTED_WORDS].toSorted());
});

test('waiting and blocked are derived, all others are stored', () => {
  expect(STATE_WORDS.filter((word) => !(STORED_WORDS as readonly string[]).includes(word))).toEqual([
    'waiting',
    'blocked',
  ]);
});
