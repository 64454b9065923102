// The lines of progress, for every shape of a run and every width of a terminal.

import { describe, expect, test } from 'vitest';
import { columnsOf } from '../../cli/draw/text-columns.ts';
import { progressTerminal, TerminalProgress } from '../../cli/render/live-progress.ts';
import { clock, progressLines, Tally } from '../../cli/render/progress.ts';
import { fakeIo } from '../rig/fake-io.ts';

const SCREEN = { columns: 80, rows: 24, color: false };

function tallyOf(...stages: readonly (readonly [stage: string, total: number, due: number])[]): Tally {
  return new Tally(stages.map(([stage, total, due]) => ({ stage, total, due })));
}

describe('a line', () => {
  test('has the name, a bar, what is done of all, the time taken and left, and what runs', () => {
    const tally = tallyOf(['transcribe', 100, 50], ['index', 1, 1]);
    for (const entity of ['a', 'b', 'c.wav', 'd.wav']) tally.started('transcribe', entity, 0);
    for (const entity of ['a', 'b']) tally.ended('transcribe', entity, 'settled');
    expect(progressLines(tally, 4_000, SCREEN)).toEqual([
      'transcribe  ━━━━━━╌╌╌╌╌╌  52/100  0:04  ~1:36 left  c.wav, d.wav',
      'index       ╌╌╌╌╌╌╌╌╌╌╌╌     0/1  waits',
    ]);
  });

  test('tells how many failed and how many will be tried again', () => {
    const tally = tallyOf(['get', 9, 9]);
    tally.ended('get', 'a', 'failed');
    tally.started('get', 'b', 0);
    tally.ended('get', 'b', 'again');
    expect(progressLines(tally, 0, SCREEN)).toEqual(['get  ━╌╌╌╌╌╌╌╌╌╌╌  1/9  1 failed  0:00  1 to retry']);
    tally.started('get', 'b', 0);
    tally.ended('get', 'b', 'released');
    expect(progressLines(tally, 0, SCREEN)[0]).not.toContain('retry');
  });

  test('goes when its stage is done, and comes when something upstream makes it stale', () => {
    const tally = tallyOf(['a', 3, 1], ['b', 3, 0]);
    tally.ended('a', 'x', 'settled');
    expect(progressLines(tally, 0, SCREEN)).toEqual([]);
    tally.started('b', 'x', 0);
    expect(progressLines(tally, 0, SCREEN)).toEqual(['b  ━━━━━━━━━━━━  3/3  0:00  x']);
  });

  test('never counts beyond its total, whatever turns up', () => {
    const tally = tallyOf(['a', 0, 0]);
    for (const entity of ['x', 'y']) tally.ended('a', entity, 'settled');
    tally.started('a', 'z', 0);
    expect(progressLines(tally, 0, SCREEN)[0]).toContain('2/2');
  });

  test.each([1, 10, 20, 40, 60, 80, 200])('fits into %d columns, wide letters and all', (columns) => {
    const tally = tallyOf(['a-stage-whose-name-is-rather-long-{sample}', 123_456, 100_000], ['日本語', 5, 5]);
    for (let i = 0; i < 50; i++) tally.started('日本語', `会議の録音-${i}.wav`, 0);
    for (let i = 0; i < 50; i++) tally.started('a-stage-whose-name-is-rather-long-{sample}', `n\n${i}`, 0);
    tally.ended('日本語', 'x', 'failed');
    for (const line of progressLines(tally, 9_999_000, { ...SCREEN, columns }))
      if (columns >= 40) expect(columnsOf(line)).toBeLessThan(columns);
  });

  test('cuts no name short while there is room for all, and says how many more where there is not', () => {
    const tally = tallyOf(['s', 500, 500]);
    for (let i = 0; i < 200; i++) tally.started('s', `lecture-${i}.wav`, 0);
    const [line] = progressLines(tally, 0, SCREEN);
    expect(line).toBe('s  ╌╌╌╌╌╌╌╌╌╌╌╌  0/500  0:00  lecture-0.wav, lecture-1.wav, 198 more');
  });
});

test('of a hundred stages those that run are shown, and never more than fit', () => {
  const tally = new Tally(Array.from({ length: 100 }, (_, i) => ({ stage: `s${i}`, total: 1, due: 1 })));
  tally.started('s50', '', 0);
  const lines = progressLines(tally, 0, SCREEN);
  expect(lines).toHaveLength(5);
  expect(lines[3]).toBe('s50  ╌╌╌╌╌╌╌╌╌╌╌╌  0/1  0:00  runs');
  expect(lines.at(-1)).toBe('… 96 stages more to come');
  expect(progressLines(tally, 0, { ...SCREEN, rows: 4 })).toHaveLength(2);
});

test.each([
  [0, '0:00'],
  [7_400, '0:07'],
  [750_000, '12:30'],
  [3_723_000, '1:02:03'],
])('%d ms are %s', (ms, text) => {
  expect(clock(ms)).toBe(text);
});

describe('on a terminal', () => {
  function live(columns = 80) {
    const written: string[] = [];
    let nowMs = 0;
    const terminal = { columns, rows: 24, write: (text: string) => written.push(text) };
    const progress = new TerminalProgress(terminal, false, () => nowMs);
    return { progress, written, terminal, pass: (ms: number) => (nowMs += ms) };
  }

  test('a short run shows its lines and nothing else', () => {
    const { progress, written, pass } = live();
    progress.begun([{ stage: 'a', total: 1, due: 1 }]);
    pass(200);
    progress.paint();
    progress.print('✓ a\n');
    progress.close();
    expect(written).toEqual(['✓ a\n']);
  });

  test('what ends scrolls above the progress, in one write with it, and nothing is left at the end', () => {
    const { progress, written, pass } = live();
    progress.begun([{ stage: 'a', total: 10_000, due: 10_000 }]);
    pass(400);
    progress.started('a', 'x');
    progress.paint();
    progress.paint();
    expect(written).toHaveLength(1);
    for (let i = 0; i < 5_000; i++) {
      progress.ended('a', String(i), 'settled');
      progress.print(`✓ ${i}\n`);
    }
    expect(written).toHaveLength(1);
    progress.paint();
    expect(written).toHaveLength(2);
    expect(written[1]).toMatch(/^\r\x1b\[J✓ 0\n✓ 1\n/);
    expect(written[1]).toContain('5,000/10,000');
    progress.close();
    expect(written.at(-1)).toBe('\r\x1b[J');
  });

  test('a terminal made narrower is cleared of the lines it broke', () => {
    const { progress, written, terminal, pass } = live(200);
    progress.begun([{ stage: 'a', total: 9, due: 9 }]);
    for (let i = 0; i < 9; i++) progress.started('a', `lecture-${i}.wav`);
    pass(400);
    progress.paint();
    terminal.columns = 50;
    pass(1_000);
    progress.paint();
    expect(written[1]).toMatch(/^\r\x1b\[[3-4]A\x1b\[J/);
  });

  test.each([
    [{}, { json: true }],
    [{ CI: 'true' }, { json: false }],
    [{ TERM: 'dumb' }, { json: false }],
  ])('with %j and %j there is no progress', (env, how) => {
    const { terminal } = live();
    expect(progressTerminal(fakeIo({ env, terminal }), how)).toBeNull();
    expect(progressTerminal(fakeIo({ terminal }), { json: false })).toBe(terminal);
    expect(progressTerminal(fakeIo(), { json: false })).toBeNull();
  });
});
