import { expect, it } from 'vitest';
import { paint, wantsColor } from '../../cli/render/output.ts';

it.each([
  [{}, true, true],
  [{}, false, false],
  [{ NO_COLOR: '1' }, true, false],
  [{ NO_COLOR: '' }, true, true],
  [{ NO_COLOR: '1', FORCE_COLOR: '1' }, true, false],
  [{ FORCE_COLOR: '1' }, false, true],
  [{ FORCE_COLOR: '0' }, true, false],
  [{ TERM: 'dumb' }, true, false],
])('with %j on a terminal (%s) colours are wanted: %s', (env, isTTY, wanted) => {
  expect(wantsColor(env, isTTY)).toBe(wanted);
});

it('paints only where colours are wanted', () => {
  expect(paint({ color: true }, 'red', 'x')).toBe('\x1b[31mx\x1b[39m');
  expect(paint({ color: false }, 'red', 'x')).toBe('x');
});
