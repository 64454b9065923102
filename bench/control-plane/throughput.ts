// Claims and completions per second in every shape, interleaved with the floors they stand on.

import { openRemote } from '../../api/store/remote.ts';
import { startSqld } from '../../test/rig/sqld.ts';
import { type Contender, contest, type Row } from '../measure/contest.ts';
import { bareLibsql, bareRemote, helloInProcess } from './floors.ts';
import { embeddedPlane, nodePlane, type Plane, workerdPlane } from './plane.ts';
import { drain, register, scan } from './workload.ts';

interface Shape {
  readonly what: string;
  readonly batch: number;
  readonly runners: number;
  readonly items: number;
  readonly isFloor: boolean;
  /** Prepares without being timed, then gives what is. */
  readonly prepare: () => Promise<() => Promise<unknown>>;
}

export async function measureThroughput({ quick }: { readonly quick: boolean }): Promise<Row[]> {
  const planes = [await embeddedPlane(), await nodePlane(), await workerdPlane()];
  const sqld = await startSqld();
  const far = openRemote({ url: sqld.url });
  const all = quick ? 2_000 : 10_000;
  const shapes: Shape[] = [
    floor('bare libsql, two columns', 1, all, bareLibsql),
    floor('bare libsql, two columns', 50, all, bareLibsql),
    floor('bare sqld, two columns', 1, quick ? 100 : 300, (items, batch) => bareRemote(far, items, batch)),
    floor('bare sqld, two columns', 50, all, (items, batch) => bareRemote(far, items, batch)),
    floor('Hono says hello', 1, all, helloInProcess),
    ...planes.flatMap((plane) => onPlane(plane, all, quick)),
  ];
  try {
    return await inTurns(shapes, quick ? 1 : 3);
  } finally {
    for (const plane of planes) await plane.stop();
    await far.close();
    await sqld.stop();
  }
}

function floor(
  what: string,
  batch: number,
  items: number,
  act: (items: number, batch: number) => Promise<void>,
): Shape {
  return { what, batch, runners: 1, items, isFloor: true, prepare: async () => () => act(items, batch) };
}

/** One by one a shape may be so slow that fewer items must do; the table says how many there were. */
function onPlane(plane: Plane, all: number, quick: boolean): Shape[] {
  const few = plane.name.startsWith('workerd') ? 200 : quick ? 500 : 3_000;
  const each = [1, 50].flatMap((batch) => [1, 8].map((runners) => ({ batch, runners })));
  return each.map(({ batch, runners }) => {
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
    return { what: plane.name, batch, runners, items, isFloor: false, prepare };
  });
}

let workflows = 0;

/** Of what was done so many times per second, one row per shape, all taking turns. */
async function inTurns(shapes: readonly Shape[], repetitions: number): Promise<Row[]> {
  const rows = await contest({
    ...{ workload: 'claim + complete', size: 0, repetitions },
    contenders: shapes.map(contenderOf),
  });
  return rows.map((row, i) => {
    const { items, batch } = shapes[i]!;
    const seconds = row.seconds / items;
    return { ...row, size: batch, items: 1, seconds, times: row.times.map((each) => each / items) };
  });
}

export function nameOf(what: string, runners: number): string {
  return runners === 1 ? what : `${what}, ${runners} runners`;
}

function contenderOf({ what, runners, isFloor, prepare }: Shape): Contender {
  let act: () => Promise<unknown> = async () => {};
  return {
    ...{ name: nameOf(what, runners), role: isFloor ? 'floor' : 'ours', version: process.version },
    prepare: async () => {
      act = await prepare();
    },
    act: async () => {
      const began = performance.now();
      await act();
      return { seconds: (performance.now() - began) / 1_000, cpuSeconds: null, peakMb: null };
    },
  };
}
