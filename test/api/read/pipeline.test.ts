// The endpoints of pipelines over HTTP, on states that watchers and runners brought about.

import { afterEach, beforeEach, expect, test } from 'vitest';
import { BLOG, type ReadRig, startReadRig } from './read-rig.ts';

let rig: ReadRig;
beforeEach(async () => {
  rig = await startReadRig();
});
afterEach(() => rig.stop());

test('status counts entities and what is to be done, and keeps the seed’s fields', async () => {
  await rig.register('blog', BLOG);
  await rig.see({ 'logs/a.txt': 'la', 'logs/b.txt': 'lb', 'logs/c.txt': 'lc' });
  const [a, b] = await rig.claim(2);
  await rig.make(a!, { 'logs/a.txt': 'la' }, { 'summaries/a.txt': 'sa' });
  await rig.fail(b!);
  await rig.claim(1);
  expect(await rig.get('/api/pipeline/blog/status')).toMatchObject({
    entities: 3,
    stale: 3,
    failed: 1,
    processing: 1,
    fresh: 3 + 1,
    waiting: 2,
  });
});
