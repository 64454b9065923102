import { expect, test } from 'vitest';
import type { Stamp } from '../../host/disk.ts';
import { Settling } from '../../watcher/settling.ts';

function settling(settleMs = 500) {
  const clock = { ms: 1_000_000 };
  return { clock, settling: new Settling(settleMs, () => clock.ms) };
}

function stamp(kind: Stamp['kind'], writtenMs = 0): Stamp {
  return { kind, size: 1, mtimeNs: BigInt(writtenMs) * 1_000_000n, ctimeNs: 0n, ino: 1n, dev: 1n };
}

test('a file at which something happened is held back until it was quiet for the time to settle', () => {
  const { clock, settling: each } = settling();
  each.touched('/in/a');
  expect([each.isSettled('/in/a'), each.isSettled('/in/b')]).toEqual([false, true]);
  clock.ms += 499;
  each.touched('/in/a');
  clock.ms += 499;
  expect([each.isSettled('/in/a'), each.waitMs()]).toEqual([false, 1]);
  clock.ms += 1;
  expect(each.isSettled('/in/a')).toBe(true);
});

test('a directory is held back while something happens below it', () => {
  const { clock, settling: each } = settling();
  each.touched('/in/dir/deep/a');
  expect(each.isSettled('/in/dir', stamp('directory'))).toBe(false);
  expect(each.isSettled('/in/directory', stamp('directory'))).toBe(true);
  clock.ms += 500;
  expect(each.isSettled('/in/dir', stamp('directory'))).toBe(true);
});

test('a file written a moment ago is held back although nobody saw the event, one from the future is not', () => {
  const { clock, settling: each } = settling();
  expect(each.isSettled('/in/a', stamp('file', clock.ms - 100))).toBe(false);
  expect(each.waitMs()).toBe(400);
  expect(each.isSettled('/in/b', stamp('file', clock.ms + 3_600_000))).toBe(true);
  expect(each.isSettled('/in/c', stamp('file', clock.ms - 500))).toBe(true);
});

test('a time of 0 holds nothing back', () => {
  const { clock, settling: each } = settling(0);
  each.touched('/in/a');
  expect([each.isSettled('/in/a', stamp('file', clock.ms)), each.waitMs()]).toEqual([true, null]);
});

test('what was looked at after it had settled is waited for no longer', () => {
  const { clock, settling: each } = settling();
  each.touched('/in/gone');
  clock.ms += 500;
  each.looked(clock.ms);
  expect(each.waitMs()).toBeNull();
});
