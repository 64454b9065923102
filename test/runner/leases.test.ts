import { expect, onTestFinished, test } from 'vitest';
import { Leases } from '../../runner/leases.ts';

function holding({ renew = async () => new Set<number>() }: { renew?: () => Promise<Set<number>> } = {}) {
  const clock = { steadyMs: 1_000, wallMs: 50_000 };
  const lost: number[] = [];
  const leases = new Leases({
    leaseMs: 100_000,
    now: () => ({ ...clock }),
    renew,
    lost: (tokens) => lost.push(...tokens),
  });
  onTestFinished(() => leases.close());
  leases.take([1, 2], { ...clock });
  return { clock, leases, lost };
}

const nobody = () => Promise.reject(new Error('no answer'));

test.each(['steadyMs', 'wallMs'] as const)(
  'a lease ends by the own clock %s while nobody answers, before the control plane can give it away',
  async (which) => {
    const { clock, leases, lost } = holding({ renew: nobody });
    clock[which] += 79_000;
    await leases.renew();
    expect(await leases.holdsAll([1, 2])).toBe(true);
    clock[which] += 2_000;
    expect(await leases.holdsAll([1, 2])).toBe(false);
    expect(lost).toEqual([1, 2]);
    expect(leases.tokens()).toEqual([]);
  },
);

test('one that has run out by the own clock is asked for once more, and kept if it is still ours', async () => {
  const { clock, leases, lost } = holding({ renew: async () => new Set([1]) });
  clock.wallMs += 1_000_000;
  expect(await leases.holdsAll([1])).toBe(true);
  expect(await leases.holdsAll([2])).toBe(false);
  expect(lost).toEqual([2]);
});

test('a lease counts from when it was asked for, not from when the answer came', async () => {
  const { clock, leases } = holding({
    renew: async () => {
      clock.steadyMs += 79_000;
      return new Set([1, 2]);
    },
  });
  await leases.renew();
  clock.steadyMs += 2_000;
  expect(leases.holds(1)).toBe(false);
});
