// A look gives the same answer on a database far away as on a file.

import { afterAll, beforeAll, expect, test } from 'vitest';
import { openRemote } from '../../../api/store/remote.ts';
import { type Sqld, startSqld } from '../../rig/sqld.ts';
import { LOOKS } from './looks.ts';
import { BLOG, type ReadRig, startReadRig } from './read-rig.ts';

let sqld: Sqld;
let far: ReadRig;
let near: ReadRig;
beforeAll(async () => {
  sqld = await startSqld();
  far = await startReadRig(() => openRemote({ url: sqld.url }));
  near = await startReadRig();
  for (const rig of [far, near]) await happen(rig);
});
afterAll(async () => {
  for (const rig of [far, near]) await rig.stop();
  await sqld.stop();
});

async function happen(rig: ReadRig): Promise<void> {
  await rig.register('blog', BLOG);
  await rig.see(Object.fromEntries(Array.from({ length: 12 }, (_, i) => [`logs/e${i}.txt`, `${i}`])));
  const [first, second, third] = await rig.claim(6);
  await rig.make(first!, { 'logs/e0.txt': '0' }, { 'summaries/e0.txt': 's' });
  await rig.fail(second!);
  await rig.make(third!, { 'logs/e2.txt': '2' }, { 'summaries/e2.txt': 's2' });
  await rig.see({ 'logs/e2.txt': 'changed', 'summaries/e0.txt': 'edited', 'logs/e11.txt': null });
}

test.each(Object.keys(LOOKS))('%s', async (name) => {
  expect(await LOOKS[name]!(far.store)).toEqual(await LOOKS[name]!(near.store));
});
