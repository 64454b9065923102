import { readFileSync } from 'node:fs';
import { afterAll, beforeAll, expect, test } from 'vitest';
import { loadNative, loadWasm } from '../../host/blake3.ts';
import { asBlake3 } from '../../schema/blake3.ts';
import { loadWorkflow } from '../../schema/load-workflow.ts';
import { LENGTHS, paint, VECTORS } from '../rig/blake3-samples.ts';
import { startWorkerd, type Workerd } from '../rig/workerd.ts';

let workerd: Workerd;
beforeAll(async () => {
  workerd = await startWorkerd(new URL('blake3-worker.ts', import.meta.url));
});
afterAll(() => workerd?.stop());

async function hashInWorkerd(bytes: Uint8Array): Promise<string> {
  const response = await workerd.fetch('/hash', { method: 'POST', body: bytes });
  return asBlake3(new Uint8Array(await response.arrayBuffer()));
}

test.each(VECTORS)('workerd gives the published digest of %i bytes', async (length, digest) => {
  expect(await hashInWorkerd(paint(length))).toBe(`blake3:${digest}`);
});

test.each(LENGTHS)('workerd, native and wasm agree on %i bytes', async (length) => {
  const bytes = paint(length);
  const digest = await hashInWorkerd(bytes);
  expect(digest).toBe(asBlake3(loadNative().hash(bytes)));
  expect(digest).toBe(asBlake3(loadWasm().hash(bytes)));
});

test('a workflow loaded in workerd has the normal form it has in Node, to the letter', async () => {
  const text = readFileSync(new URL('../fixtures/seeds/playbook.yaml', import.meta.url), 'utf8');
  const loaded = loadWorkflow(text, { name: 'playbook', root: '/project' });
  expect(loaded.kind).toBe('workflow');
  const response = await workerd.fetch('/playbook', { method: 'POST', body: text });
  expect(await response.text()).toBe(JSON.stringify(loaded));
});
