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

test('the schema tells a unit that no duration has, so that an editor does', async () => {
  const io = fakeIo();
  await run({ values: {}, positionals: ['playbook'], io });
  const { settle } = JSON.parse(io.written.stdout).properties.watch.properties;
  expect(settle).toMatchObject({ type: ['string', 'number'], minimum: 0 });
  expect('500ms').toMatch(new RegExp(settle.pattern));
  expect('5 parsecs').not.toMatch(new RegExp(settle.pattern));
});
