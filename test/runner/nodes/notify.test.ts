import { expect, test } from 'vitest';
import { nodeRig, serve } from './node-rig.ts';

test('notify posts the message and leaves a receipt', async () => {
  const server = await serve((_, response) => response.writeHead(204).end());
  const rig = nodeRig();
  const data = { url: `${server.origin}/hook`, message: 'done: {{params.x}}' };
  expect(await rig.run('notify', data, { scope: { params: { x: '"quoted"\n' } } })).toEqual({ kind: 'made' });
  expect(JSON.parse(server.requests[0]!.body)).toEqual({ text: 'done: "quoted"\n' });
  expect(server.requests[0]).toMatchObject({ method: 'POST', url: '/hook' });
  expect(rig.json()).toEqual({ sent: { text: 'done: "quoted"\n' }, status: 204 });
});

test('notify takes any JSON body, and its URL from a variable', async () => {
  const server = await serve((_, response) => response.end());
  const rig = nodeRig();
  const data = { url_env: 'HOOK', json_body: '{"card": {"title": "{{params.x}}"}}', headers: { 'X-A': 'b' } };
  const secrets = { HOOK: `${server.origin}/s3cret?k=1` };
  await rig.run('notify', data, { secrets, scope: { params: { x: 'a"b' } } });
  expect(JSON.parse(server.requests[0]!.body)).toEqual({ card: { title: 'a"b' } });
  expect(server.requests[0]).toMatchObject({ url: '/s3cret?k=1', headers: { 'x-a': 'b' } });
  expect(rig.made()).not.toContain('s3cret');
});

test('a webhook that refuses is a failure that does not tell its URL', async () => {
  const server = await serve((_, response) => response.writeHead(500).end('sorry'));
  const rig = nodeRig();
  const secrets = { HOOK: `${server.origin}/s3cret?k=1` };
  expect(await rig.run('notify', { url_env: 'HOOK', message: 'x' }, { secrets })).toEqual({
    kind: 'failed',
    error: 'the webhook in HOOK answered 500 Internal Server Error: sorry',
    transient: true,
    outcome: null,
  });
  expect(await rig.run('notify', { url: secrets.HOOK, message: 'x' })).toMatchObject({
    error: `the webhook at ${server.origin} answered 500 Internal Server Error: sorry`,
  });
  expect(rig.made()).toBeNull();
});

test('a message to Discord calls nobody, whatever the headline says', async () => {
  const server = await serve((_, response) => response.writeHead(204).end());
  const rig = nodeRig({ 'a.json': '{"title": "@everyone \\"look\\""}' });
  const data = { channel: 'news', message: '{{$.item.content.title}}', username: 'Sluice' };
  const scope = { stages: { item: { path: 'a.json' } } };
  const secrets = { DISCORD_WEBHOOK_URL: server.origin };
  expect(await rig.run('discord_send', data, { scope, secrets })).toEqual({ kind: 'made' });
  expect(JSON.parse(server.requests[0]!.body)).toEqual({
    content: '@everyone "look"',
    username: 'Sluice',
    allowed_mentions: { parse: [] },
  });
  expect(rig.json()).toEqual({ channel: 'news', message: '@everyone "look"', status: 204 });
});

test('a channel has a webhook of its own if one is set for it', async () => {
  const server = await serve((_, response) => response.end());
  const secrets = {
    DISCORD_WEBHOOK_URL: `${server.origin}/all`,
    DISCORD_WEBHOOK_URL_BIG_NEWS: `${server.origin}/big`,
    OTHER: `${server.origin}/other`,
  };
  const rig = nodeRig();
  await rig.run('discord_send', { channel: 'big-news', message: 'x' }, { secrets });
  await rig.run('discord_send', { channel: 'small', message: 'x' }, { secrets });
  await rig.run('discord_send', { webhook_env: 'OTHER', message: 'x' }, { secrets });
  await rig.run('discord_send', { webhook_url: `${server.origin}/direct`, message: 'x' }, { secrets });
  expect(server.requests.map(({ url }) => url)).toEqual(['/big', '/all', '/other', '/direct']);
});

test('without a webhook the failure names the variables to set', async () => {
  expect(await nodeRig().run('discord_send', { channel: 'news', message: 'x' })).toMatchObject({
    error:
      'no webhook to post to: put its URL into the environment as DISCORD_WEBHOOK_URL_NEWS or DISCORD_WEBHOOK_URL',
    transient: false,
  });
});
