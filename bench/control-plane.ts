// The control plane beside its floors: claims and completions per second in each of its shapes, and what looks and
// changes cost from a thousand entities to a million.
//
//   npm run bench:control-plane [-- --quick]

import { serve } from './control-plane/plane.ts';
import { type AtSize, measureSizes, standAtSize } from './control-plane/sizes.ts';
import { measureThroughput } from './control-plane/throughput.ts';
import type { Row } from './measure/contest.ts';
import { keepResults, tellMachine } from './measure/machine.ts';
import { formatTable, rounded, times } from './measure/table.ts';

async function main(args: readonly string[]): Promise<void> {
  if (args[0] === '--as-server') return serve();
  if (args[0] === '--at-size') return standAtSize(Number(args[1]));
  const quick = args.includes('--quick');
  tellMachine();
  const rates = await measureThroughput({ quick });
  console.log(`\n${tableOfRates(rates)}`);
  const sizes = quick ? [1_000, 10_000] : [1_000, 10_000, 100_000, 1_000_000];
  const atSizes = await measureSizes(sizes, quick ? 1 : 3);
  console.log(`\n${tableOfSizes(atSizes)}`);
  keepResults('control-plane', { quick, rows: rates, facts: factsOf(atSizes) });
}

function tableOfRates(rates: readonly Row[]): string {
  const lines = rates.map((row) => {
    const floor = floorOf(rates, row);
    const ratio = floor === undefined ? '' : times(floor.seconds / row.seconds);
    return [row.contender, String(row.size), rounded(1 / row.seconds), ratio, row.failure ?? ''];
  });
  return formatTable(['claim + complete', 'batch', 'per second', 'speed to floor'], lines);
}

/** The bare database of the same kind, asked in batches of the same size. */
function floorOf(rates: readonly Row[], { contender, role, size }: Row): Row | undefined {
  const floor = contender.includes('sqld') ? 'bare sqld' : 'bare libsql';
  return role === 'floor'
    ? undefined
    : rates.find((row) => row.contender.startsWith(floor) && row.size === size);
}

const LOOKS = ['status', 'why', 'observation', 'claimAndComplete'] as const;

function tableOfSizes(sizes: readonly AtSize[]): string {
  const head = ['entities', 'status ms', 'why ms', 'one change ms', 'claim + complete ms', 'first scan s'];
  const lines = sizes.map((at) => [
    at.entities.toLocaleString('en'),
    ...LOOKS.map((look) => at[look].toFixed(3)),
    ...[rounded(at.scanSeconds), rounded(at.residentMb), rounded(at.databaseMb)],
  ]);
  const [first, last] = [sizes[0]!, sizes.at(-1)!];
  const ratios = LOOKS.map((look) => times(last[look] / first[look]));
  const perEntity = last.scanSeconds / last.entities / (first.scanSeconds / first.entities);
  const ratio = ['last / first', ...ratios, `${times(perEntity)} each`];
  return formatTable([...head, 'resident MB', 'database MB'], [...lines, ratio]);
}

function factsOf(sizes: readonly AtSize[]): Record<string, number> {
  const each = sizes.flatMap(({ entities, ...at }) =>
    Object.entries(at).map(([name, value]) => [`${name}, ${entities}`, value] as const),
  );
  return Object.fromEntries(each);
}

await main(process.argv.slice(2));
