// What readers are told of a path whose maker has to make it again.

import { afterEach, beforeEach, expect, test } from 'vitest';
import { type ReadRig, startReadRig } from './read-rig.ts';

let rig: ReadRig;
beforeEach(async () => {
  rig = await startReadRig();
});
afterEach(() => rig.stop());

test('a collection waits for a member whose output vanished until it is made again', async () => {
  await rig.register(
    'c',
    `stages:
  each: {deps: [{path: "in/{x}.txt"}], outs: [{path: "mid/{x}.txt"}], cmd: a}
  all: {deps: [{path: "mid/{x}.txt"}], outs: [{path: all.txt}], cmd: b}
`,
  );
  await rig.see({ 'in/a.txt': 'a', 'in/b.txt': 'b' });
  for (const item of await rig.claim(2))
    await rig.make(
      item,
      { [`in/${item.entity}.txt`]: item.entity },
      { [`mid/${item.entity}.txt`]: item.entity },
    );
  const [all] = await rig.claim(1);
  await rig.make(all!, { 'mid/a.txt': 'a', 'mid/b.txt': 'b' }, { 'all.txt': 'ab' });
  await rig.see({ 'mid/a.txt': null });
  const again = await rig.claim();
  expect(again.map(({ stage, entity }) => `${stage}@${entity}`)).toEqual(['each@a']);
  await rig.make(again[0]!, { 'in/a.txt': 'a' }, { 'mid/a.txt': 'a2' });
  expect((await rig.claim()).map(({ stage }) => stage)).toEqual(['all']);
});
