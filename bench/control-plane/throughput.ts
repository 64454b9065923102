// Claims and completions per second in every shape, interleaved with the floors they stand on.

import { openRemote } from '../../api/store/remote.ts';
import { startSqld } from '../../test/rig/sqld.ts';
import { median } from '../measure.ts';
import { bareLibsql, bareRemote, helloInProcess } from './floors.ts';
import { embeddedPlane, nodePlane, type Plane, workerdPlane } from './plane.ts';
import { drain, register, scan } from './workload.ts';

export interface Rate {
  readonly what: string;
  readonly batch: number | null;
  readonly runners: number;
  readonly items: number;
  readonly perSecond: number;
}

interface Contender {
  readonly what: string;
  readonly batch: number | null;
  readonly runners: number;
  readonly items: number;
  /** Prepares without being timed, then gives what is. */
  readonly prepare: () => Promise<() => Promise<unknown>>;
}

export async function measureThroughput({ quick }: { readonly quick: boolean }): Promise<Rate[]> {
  const planes = [await embeddedPlane(), await nodePlane(), await workerdPlane()];
  const sqld = await startSqld();
  const far = openRemote({ url: sqld.url });
  const all = quick ? 2_000 : 10_000;
  const contenders: Contender[] = [
    plainly('floor: Hono says hello', null, all, (items) => helloInProcess(items)),
    ...[1, 50].map((batch) =>
      plainly('floor: bare libsql, two columns', batch, all, (items) => bareLibsql(items, batch)),
    ),
    plainly('floor: bare sqld, two columns', 1, quick ? 100 : 300, (items) => bareRemote(far, items, 1)),
    plainly('floor: bare sqld, two columns', 50, all, (items) => bareRemote(far, items, 50)),
    ...planes.flatMap((plane) => onPlane(plane, all, quick)),
  ];
  try {
    return await interleaved(contenders, quick ? 1 : 3);
  } finally {
    for (const plane of planes) await plane.stop();
    await far.close();
    await sqld.stop();
  }
}

function plainly(
  what: string,
  batch: number | null,
  items: number,
  act: (items: number) => Promise<void>,
): Contender {
  return { what, batch, runners: 1, items, prepare: async () => () => act(items) };
}

/** One by one a shape may be so slow that fewer items must do; the table says how many there were. */
function onPlane(plane: Plane, all: number, quick: boolean): Contender[] {
  const few = plane.name.startsWith('workerd') ? 200 : quick ? 500 : 3_000;
  const shapes = [1, 50].flatMap((batch) => [1, 8].map((runners) => ({ batch, runners })));
  return shapes.map(({ batch, runners }) => {
    const items = batch === 1 ? few : all;
    const prepare = async () => {
      const workflow = `w${++workflows}`;
      await register(plane.ask, workflow);
      await scan(plane.ask, workflow, items);
      return async () => {
        const done = await drain(plane.ask, workflow, { runners, batch });
        if (done !== items) throw new Error(`${plane.name}: ${done} of ${items} were done`);
      };
    };
    return { what: plane.name, batch, runners, items, prepare };
  });
}

let workflows = 0;

async function interleaved(contenders: readonly Contender[], rounds: number): Promise<Rate[]> {
  const taken = contenders.map((): number[] => []);
  for (let round = 0; round < rounds; round++) {
    for (const [i, { prepare }] of contenders.entries()) {
      const act = await prepare();
      const began = performance.now();
      await act();
      taken[i]!.push(performance.now() - began);
    }
  }
  return contenders.map(({ what, batch, runners, items }, i) => ({
    ...{ what, batch, runners, items },
    perSecond: (items / median(taken[i]!)) * 1_000,
  }));
}
