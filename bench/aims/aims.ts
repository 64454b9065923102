// All aims for speed, with where each figure comes from. The number before each is that of the issue that set it.

import type { Figures, Which } from './figures.ts';

export interface Aim {
  readonly issue: 4 | 5 | 6;
  readonly what: string;
  readonly unit: string;
  readonly atMost?: number;
  readonly atLeast?: number;
  readonly measured: (figures: Figures) => number | null;
}

const run = (workload: string, size: number, contender = 'sluice'): Which => ({
  ...{ part: 'run', workload, size, contender },
});
const named = (size: number) => size.toLocaleString('en');

export const AIMS: readonly Aim[] = [
  ...[100, 1_000, 10_000, 100_000].map((size): Aim => {
    const [own, floor] = [run('nothing to do', size), run('nothing to do', size, 'node floor')];
    const what = `nothing to do at ${named(size)}, to the Node floor`;
    return { issue: 6, what, unit: '×', atMost: 1.4, measured: ({ ratio }) => ratio(own, floor) };
  }),
  {
    ...{ issue: 6, what: 'nothing to do, per entity from 1,000 to 100,000', unit: 'µs', atMost: 10 },
    measured: (figures) => perEntity(figures, 1_000, 100_000),
  },
  ...[100, 1_000, 10_000].map(
    (size): Aim => ({
      ...{ issue: 6, what: `nothing to do at ${named(size)}, to the best that compares content`, unit: '×' },
      atMost: 1,
      measured: ({ toFastest }) => toFastest(run('nothing to do', size), ['snakemake', 'wireit', 'turbo']),
    }),
  ),
  ...(
    [
      [10_000, 4],
      [100_000, 1.8],
    ] as const
  ).map(
    ([size, atMost]): Aim => ({
      ...{ issue: 4, what: `nothing to do at ${named(size)}, to ninja`, unit: '×', atMost },
      measured: ({ ratio }) => ratio(run('nothing to do', size), run('nothing to do', size, 'ninja')),
    }),
  ),
  {
    ...{ issue: 4, what: 'nothing to do at 10,000, faster than Snakemake', unit: '×', atLeast: 30 },
    measured: ({ ratio }) => ratio(run('nothing to do', 10_000, 'snakemake'), run('nothing to do', 10_000)),
  },
  ...[1_000, 10_000, 100_000].map((size): Aim => toNothing('one changed', size, 1.1)),
  toNothing('all touched', 10_000, 2.5),
  ...[1_000, 10_000].map(
    (size): Aim => ({
      ...{ issue: 6, what: `cold at ${named(size)}, per job beyond xargs`, unit: 'ms', atMost: 0.8 },
      measured: ({ row }) => {
        const [own, xargs] = [row(run('cold', size)), row(run('cold', size, 'xargs -P'))];
        return own === null || xargs === null ? null : ((own.seconds - xargs.seconds) / size) * 1_000;
      },
    }),
  ),
  {
    ...{ issue: 4, what: 'chain of 100 stages, cold', unit: 'ms', atMost: 450 },
    measured: ({ row }) => inMs(row(run('chain cold', 1))?.seconds),
  },
  {
    ...{ issue: 4, what: 'memory at 10,000, the most of any run', unit: 'MB', atMost: 120 },
    measured: (figures) => peakMb(figures, 10_000),
  },
  {
    ...{ issue: 4, what: 'memory at 100,000, the most of any run', unit: 'MB', atMost: 250 },
    measured: (figures) => peakMb(figures, 100_000),
  },
  ...[10, 10_000, 100_000].flatMap((size): Aim[] => [
    dropped('sluice, settle 0', size, 20),
    dropped('sluice', size, 520),
  ]),
  {
    ...{ issue: 6, what: 'one dropped file, at 100,000 to at 10', unit: '×', atMost: 1.1 },
    measured: ({ ratio }) => ratio(rename(100_000), rename(10)),
  },
  ofDaemon('CPU at rest with 100,000 files watched', 'idle CPU %', '%', 1),
  ofDaemon('memory with 100,000 files watched', 'resident MB', 'MB', 150),
  ofDaemon('start with 100,000 known files', 'start s', 's', 3),
  hashing('large file', 1, 0.85),
  hashing('small files', 10_000, 1),
  perSecond('one by one over HTTP', 'Node over HTTP', 1, 5_000),
  perSecond('by 50 over HTTP', 'Node over HTTP', 50, 50_000),
  perSecond('by 50 in workerd on sqld', 'workerd on sqld', 50, 10_000),
  // The issue asks for cost that grows with what changed, without a figure; a fifth is what noise may do.
  ...['status', 'why', 'observation', 'claimAndComplete'].map(
    (look): Aim => ({
      ...{ issue: 6, what: `${look} at 1,000,000 entities, to at 1,000`, unit: '×', atMost: 1.2 },
      measured: ({ fact }) =>
        divided(fact('control-plane', `${look}, 1000000`), fact('control-plane', `${look}, 1000`)),
    }),
  ),
];

function toNothing(workload: string, size: number, atMost: number): Aim {
  return {
    ...{ issue: 4, what: `${workload} at ${named(size)}, to nothing to do`, unit: '×', atMost },
    measured: ({ ratio }) => ratio(run(workload, size), run('nothing to do', size)),
  };
}

function perEntity({ row }: Figures, from: number, to: number): number | null {
  const [low, high] = [row(run('nothing to do', from)), row(run('nothing to do', to))];
  return low === null || high === null ? null : ((high.seconds - low.seconds) / (to - from)) * 1e6;
}

function peakMb({ row }: Figures, size: number): number | null {
  const peaks = ['cold', 'nothing to do', 'one changed', 'one touched', 'all touched'].flatMap(
    (workload) => row(run(workload, size))?.peakMb ?? [],
  );
  return peaks.length === 0 ? null : Math.max(...peaks);
}

function rename(size: number, contender = 'sluice, settle 0'): Which {
  return { part: 'drop', workload: 'rename', size, contender };
}

function dropped(contender: string, size: number, atMost: number): Aim {
  return {
    ...{ issue: 5, what: `${contender}: drop to output with ${named(size)} files`, unit: 'ms', atMost },
    measured: ({ row }) => inMs(row(rename(size, contender))?.seconds),
  };
}

function ofDaemon(what: string, name: string, unit: string, atMost: number): Aim {
  return { issue: 5, what, unit, atMost, measured: ({ fact }) => fact('drop', `${name}, sluice, 100000`) };
}

function hashing(workload: string, size: number, atLeast: number): Aim {
  const of = (contender: string): Which => ({ part: 'hashing', workload, size, contender });
  return {
    ...{ issue: 6, what: `hashing, ${workload}: speed to b3sum on one thread`, unit: '×', atLeast },
    measured: ({ ratio }) => ratio(of('b3sum'), of('sluice')),
  };
}

/** With one runner or with eight, whichever is more. */
function perSecond(how: string, plane: string, batch: number, atLeast: number): Aim {
  return {
    ...{ issue: 6, what: `claim + complete, ${how}`, unit: '/s', atLeast },
    measured: ({ row }) => {
      const rates = [plane, `${plane}, 8 runners`].flatMap((contender) => {
        const found = row({ part: 'control-plane', workload: 'claim + complete', size: batch, contender });
        return found === null ? [] : 1 / found.seconds;
      });
      return rates.length === 0 ? null : Math.max(...rates);
    },
  };
}

function inMs(seconds: number | undefined): number | null {
  return seconds === undefined ? null : seconds * 1_000;
}

function divided(a: number | null, b: number | null): number | null {
  return a === null || b === null ? null : a / b;
}
