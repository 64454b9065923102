// The words of a state and what each surface calls them (SEMANTICS 8): one table, so that no two can disagree.

export const STORED_WORDS = [
  'fresh',
  'edited',
  'stale',
  'running',
  'failed',
  'exhausted',
  'skipped',
  'orphan',
] as const;
export type StoredWord = (typeof STORED_WORDS)[number];

/** `waiting` is kept beside each row, so it can be counted; `blocked` is found by looking upstream. */
export const COUNTED_WORDS = [...STORED_WORDS, 'waiting'] as const;
export type CountedWord = (typeof COUNTED_WORDS)[number];

export const STATE_WORDS = [...COUNTED_WORDS, 'blocked'] as const;
export type StateWord = (typeof STATE_WORDS)[number];

export const PIPELINE_WORDS = ['complete', 'stale', 'processing', 'failed', 'orphan'] as const;
export type PipelineWord = (typeof PIPELINE_WORDS)[number];

interface Surfaces {
  /** The endpoints under `/api/pipeline`. */
  readonly pipeline: PipelineWord;
  /** `run`, of a state for which it started no command; null if it does not list it. */
  readonly run: 'cached' | 'waiting' | 'skipped' | 'failed' | null;
  /** Nothing is to be done about it. */
  readonly settled: boolean;
}

const SURFACES: Readonly<Record<StateWord, Surfaces>> = {
  fresh: { pipeline: 'complete', run: 'cached', settled: true },
  edited: { pipeline: 'complete', run: 'cached', settled: true },
  skipped: { pipeline: 'complete', run: 'cached', settled: true },
  orphan: { pipeline: 'orphan', run: null, settled: true },
  stale: { pipeline: 'stale', run: 'waiting', settled: false },
  waiting: { pipeline: 'stale', run: 'waiting', settled: false },
  blocked: { pipeline: 'stale', run: 'skipped', settled: false },
  running: { pipeline: 'processing', run: 'waiting', settled: false },
  failed: { pipeline: 'failed', run: 'failed', settled: false },
  exhausted: { pipeline: 'failed', run: 'failed', settled: false },
};

export function pipelineWord(word: StateWord): PipelineWord {
  return SURFACES[word].pipeline;
}

export function runWord(word: StateWord): Surfaces['run'] {
  return SURFACES[word].run;
}

export function isSettled(word: StateWord): boolean {
  return SURFACES[word].settled;
}

/** What a pipeline's word stands for, as far as rows know it. */
export function countedWordsOf(pipeline: PipelineWord): readonly CountedWord[] {
  return COUNTED_WORDS.filter((word) => SURFACES[word].pipeline === pipeline);
}
