import { expect, test } from 'vitest';
import { steadyFetch, Unreachable } from '../../host/steady-fetch.ts';

type Answer = number | Error;

function steady(answers: Answer[], hurryAfter = Number.POSITIVE_INFINITY) {
  const told: string[] = [];
  const waits: number[] = [];
  let asked = 0;
  const line = steadyFetch({
    fetch: async () => {
      const answer = answers[asked++] ?? 200;
      if (asked >= hurryAfter) line.hurry();
      if (answer instanceof Error) throw answer;
      return new Response('{}', { status: answer });
    },
    timeoutMs: () => 60_000,
    isOnce: (url) => url.endsWith('/once'),
    pause: async (ms) => void waits.push(ms),
    random: () => 1,
    away: (why) => told.push(`away: ${why}`),
    back: () => told.push('back'),
  });
  return { line, told, waits, asked: () => asked };
}

const refused = new TypeError('fetch failed', {
  cause: Object.assign(new Error('x'), { code: 'ECONNREFUSED' }),
});

test('it asks until there is an answer, less and less often, and tells once each way', async () => {
  const { line, told, waits } = steady([refused, refused, 503, refused, 200]);
  expect((await line.fetch('http://x/')).status).toBe(200);
  expect(waits).toEqual([250, 500, 1_000, 2_000]);
  expect(told).toEqual(['away: ECONNREFUSED', 'back']);
});

test('a single miss is nobody’s business', async () => {
  const { line, told } = steady([refused, 200]);
  await line.fetch('http://x/');
  expect(told).toEqual([]);
});

test('what must not be repeated is not, and neither is anything once it is in a hurry', async () => {
  const once = steady([refused]);
  await expect(once.line.fetch('http://x/once')).rejects.toThrow(Unreachable);
  const hurried = steady([refused, refused, refused], 2);
  await expect(hurried.line.fetch('http://x/')).rejects.toThrow(Unreachable);
  expect([once.asked(), hurried.asked()]).toEqual([1, 2]);
});

test('a refusal is an answer', async () => {
  const { line, asked } = steady([403]);
  expect((await line.fetch('http://x/')).status).toBe(403);
  expect(asked()).toBe(1);
});
