import { expect, test } from 'vitest';
import { run } from '../../cli/schema.ts';
import { fakeIo } from '../rig/fake-io.ts';

test.each([
  ['playbook', 'stages'],
  ['pipeline', 'stateRoot'],
  ['job', 'tasks'],
  ['settings', 'executor'],
])('schema %s is a JSON Schema made from the validator', async (kind, key) => {
  const io = fakeIo();
  await run({ values: {}, positionals: [kind], io });
  const schema = JSON.parse(io.written.stdout);
  expect(schema.$schema).toContain('json-schema.org');
  expect(schema.additionalProperties).toBe(false);
  expect(Object.keys(schema.properties)).toContain(key);
});

test('schema without a kind accepts any of the three workflow files', async () => {
  const io = fakeIo();
  await run({ values: {}, positionals: [], io });
  expect(JSON.parse(io.written.stdout).anyOf).toHaveLength(3);
});
