// The control plane beside its floors: claims and completions per second in each of its shapes, and what looks and
// changes cost from a thousand entities to a million.
//
//   npm run bench:control-plane [-- --quick]

import { serve } from './control-plane/plane.ts';
import { type AtSize, measureSizes, standAtSize } from './control-plane/sizes.ts';
import { measureThroughput, type Rate } from './control-plane/throughput.ts';
import { formatTable, keepResults, rounded } from './measure.ts';

async function main(args: readonly string[]): Promise<void> {
  if (args[0] === '--as-server') return serve();
  if (args[0] === '--at-size') return standAtSize(Number(args[1]));
  const quick = args.includes('--quick');
  const began = performance.now();
  console.log('Ratios count, not times. Medians of interleaved rounds.\n');
  const rates = await measureThroughput({ quick });
  console.log(tableOfRates(rates));
  const sizes = quick ? [1_000, 10_000] : [1_000, 10_000, 100_000, 1_000_000];
  const atSizes = await measureSizes(sizes, quick ? 1 : 3);
  console.log(tableOfSizes(atSizes));
  const seconds = (performance.now() - began) / 1_000;
  keepResults('control-plane', { quick, seconds, rates, sizes: atSizes });
}

function tableOfRates(rates: readonly Rate[]): string {
  const rows = rates.map(({ what, batch, runners, items, perSecond }) => {
    const floor = floorOf(rates, what, batch);
    const ratio = floor === undefined ? '' : `${(perSecond / floor).toFixed(3)}×`;
    return [
      ...[what, batch === null ? '' : String(batch), String(runners), items.toLocaleString('en')],
      ...[rounded(perSecond), ratio],
    ];
  });
  return formatTable(['claim + complete', 'batch', 'runners', 'items', 'per second', 'of the floor'], rows);
}

/** The bare database of the same kind, asked in batches of the same size. */
function floorOf(rates: readonly Rate[], what: string, batch: number | null): number | undefined {
  if (what.startsWith('floor')) return undefined;
  const floor = what.includes('sqld') ? 'floor: bare sqld' : 'floor: bare libsql';
  return rates.find((rate) => rate.what.startsWith(floor) && rate.batch === batch)?.perSecond;
}

const LOOKS = ['status', 'why', 'observation', 'claimAndComplete'] as const;

function tableOfSizes(sizes: readonly AtSize[]): string {
  const head = ['entities', 'status ms', 'why ms', 'one change ms', 'claim + complete ms', 'first scan s'];
  const rows = sizes.map((at) => [
    at.entities.toLocaleString('en'),
    ...LOOKS.map((look) => at[look].toFixed(3)),
    ...[rounded(at.scanSeconds), rounded(at.residentMb), rounded(at.databaseMb)],
  ]);
  const [first, last] = [sizes[0]!, sizes.at(-1)!];
  const ratios = LOOKS.map((look) => `${(last[look] / first[look]).toFixed(2)}×`);
  const perEntity = last.scanSeconds / last.entities / (first.scanSeconds / first.entities);
  const ratio = ['last / first', ...ratios, `${perEntity.toFixed(2)}× each`];
  return formatTable([...head, 'resident MB', 'database MB'], [...rows, ratio]);
}

await main(process.argv.slice(2));
