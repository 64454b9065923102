import { readFileSync } from 'node:fs';
import { expect, test } from 'vitest';
import { NODES, nodeProblems, nodeVersion } from '../../../runner/nodes/table.ts';
import { NODE_TYPES } from '../../../schema/front/pipeline-shape.ts';
import type { Node } from '../../../schema/workflow.ts';
import { nodeRig, serve } from './node-rig.ts';

interface SeedStage {
  readonly id: string;
  readonly node?: Node;
  readonly then?: Node;
}

const seed = (name: string) => {
  const text = readFileSync(new URL(`../../fixtures/seeds/${name}`, import.meta.url), 'utf8');
  const { stages } = JSON.parse(text) as { stages: SeedStage[] };
  return (id: string) => stages.find((stage) => stage.id === id)!;
};

test('every node type that a file may name has a row, and every row a version', () => {
  expect(Object.keys(NODES).sort()).toEqual([...NODE_TYPES].sort());
  for (const typeId of NODE_TYPES) expect(nodeVersion(typeId)).toBeGreaterThan(0);
  expect(nodeVersion('constructor')).toBeNull();
});

test.each(['pipeline.json', 'news-feed.json'])('the nodes of %s are right as they stand', (name) => {
  const text = readFileSync(new URL(`../../fixtures/seeds/${name}`, import.meta.url), 'utf8');
  for (const { node, then } of (JSON.parse(text) as { stages: SeedStage[] }).stages) {
    if (node !== undefined) expect(nodeProblems(node, then ?? null)).toEqual([]);
  }
});

test('the auto-blog pipeline runs with a stand-in for its agent', async () => {
  const stage = seed('pipeline.json');
  const rig = nodeRig({
    'logs/2026-01-15/claude_logs.txt': 'fixed it',
    'logs/2026-01-15/git_commits.txt': 'abc',
  });
  const agentCommand = 'tr a-z A-Z';
  const logs = { stages: { logs: { path: 'logs/2026-01-15/' } }, deps: ['logs/2026-01-15/'] };
  const summary = stage('summary').node!;
  expect(await rig.run(summary.typeId, summary.data, { scope: logs, context: { agentCommand } })).toEqual({
    kind: 'made',
  });
  expect(rig.made()).toContain('--- LOGS/2026-01-15/CLAUDE_LOGS.TXT (8 BYTES) ---\nFIXED IT\n');
  rig.write('summaries/2026-01-15.txt', 'a summary');
  const blog = stage('blog').node!;
  const summaries = {
    stages: { summary: { path: 'summaries/2026-01-15.txt' } },
    deps: ['summaries/2026-01-15.txt'],
  };
  expect(await rig.run(blog.typeId, blog.data, { scope: summaries, context: { agentCommand } })).toEqual({
    kind: 'made',
  });
  expect(rig.made()).toContain('WRITE A BLOG POST BASED ON THIS SUMMARY...\n');
  expect(rig.made()).toContain('A SUMMARY');
});

test('the news pipeline runs with stand-ins for its scorer and its webhook', async () => {
  const stage = seed('news-feed.json');
  const scorer = await serve((_, response) => response.end('{"score": 8}'));
  const discord = await serve((_, response) => response.writeHead(204).end());
  const rig = nodeRig({
    'feeds/hn/1.json': JSON.stringify({ link: 'http://x/"?a=1', title: 'A "quote"\n' }),
  });
  const scope = { stages: { rss_items: { path: 'feeds/hn/1.json' }, scores: { path: 'scores/hn/1.json' } } };
  const score = stage('scores').node!;
  // `scorer` is resolved by the rig; only the port is the stand-in's own.
  const url = String(score.data.url).replace(':8080', `:${scorer.port}`);
  expect(await rig.run(score.typeId, { ...score.data, url }, { scope })).toEqual({ kind: 'made' });
  expect(scorer.requests[0]).toMatchObject({ method: 'POST', url: '/score' });
  expect(JSON.parse(scorer.requests[0]!.body)).toEqual({ url: 'http://x/"?a=1' });
  rig.write('scores/hn/1.json', rig.made()!);
  const { node, then: whenTrue } = stage('notifications');
  const secrets = { DISCORD_WEBHOOK_URL: discord.origin };
  const notify = () => rig.run(node!.typeId, node!.data, { scope, secrets, whenTrue: whenTrue! });
  expect(await notify()).toEqual({ kind: 'made' });
  expect(JSON.parse(discord.requests[0]!.body)).toMatchObject({ content: 'A "quote"\n' });
  rig.write('scores/hn/1.json', '{"score": 7}');
  expect(await notify()).toEqual({ kind: 'skipped', because: '{{$.scores.content.score >= 8}} is false' });
  expect(discord.requests).toHaveLength(1);
});

const some: Node = { typeId: 'set', data: { values: 1 } };

test.each<[string, Node, Node | null]>([
  ["unknown node type 'htpp'; did you mean 'http'?", { typeId: 'htpp', data: {} }, null],
  [
    "unknown node type 'toString'; known: agent, claude_agent, command",
    { typeId: 'toString', data: {} },
    null,
  ],
  [
    "http: unknown key 'metod'; did you mean 'method'?",
    { typeId: 'http', data: { url: 'x', metod: 'GET' } },
    null,
  ],
  ["http: 'url' is missing", { typeId: 'http', data: {} }, null],
  ['http: method: ', { typeId: 'http', data: { url: 'x', method: 'BREW' } }, null],
  [
    'http: body: body_mode is none',
    { typeId: 'http', data: { url: 'x', body_mode: 'none', body: 'b' } },
    null,
  ],
  [
    'http: body_mode: body_mode is json but there is no body',
    { typeId: 'http', data: { url: 'x', body_mode: 'json' } },
    null,
  ],
  [
    "http: body: write either 'json_body' or 'body'",
    { typeId: 'http', data: { url: 'x', json_body: 1, body: 'b' } },
    null,
  ],
  [
    'http: json_body: body_mode is text',
    { typeId: 'http', data: { url: 'x', body_mode: 'text', json_body: 1 } },
    null,
  ],
  [
    'http: body: expected a map',
    { typeId: 'http', data: { url: 'x', body_mode: 'form', body: 'a=b' } },
    null,
  ],
  [
    'http: headers.Content-Length: this header is set for you',
    { typeId: 'http', data: { url: 'x', headers: { 'Content-Length': '3' } } },
    null,
  ],
  ['http: headers.A B: ', { typeId: 'http', data: { url: 'x', headers: { 'A B': '3' } } }, null],
  ['http: timeout: expected a duration', { typeId: 'http', data: { url: 'x', timeout: 'soon' } }, null],
  ["notify: write either 'url' or 'url_env'", { typeId: 'notify', data: { message: 'x' } }, null],
  ["notify: write either 'message' or 'json_body'", { typeId: 'notify', data: { url: 'x' } }, null],
  [
    "discord_send: write either 'webhook_url' or 'webhook_env'",
    { typeId: 'discord_send', data: { message: 'm', webhook_url: 'a', webhook_env: 'b' } },
    null,
  ],
  ["state_write: unknown key 'path'", { typeId: 'state_write', data: { content: 'x', path: '../y' } }, null],
  ["transform: write either 'expression' or 'map'", { typeId: 'transform', data: {} }, null],
  [
    'transform: expression: expected an expression in braces',
    { typeId: 'transform', data: { expression: '$.x.content' } },
    null,
  ],
  [
    'if: condition: expected an expression in braces',
    { typeId: 'if', data: { condition: '$.x.content.n > 1' } },
    some,
  ],
  ["an 'if' needs a 'then'", { typeId: 'if', data: { condition: '{{true}}' } }, null],
  [
    "an 'if' cannot stand under 'then'",
    { typeId: 'if', data: { condition: '{{true}}' } },
    { typeId: 'if', data: { condition: '{{true}}' } },
  ],
  [
    "then: set: unknown key 'vals'",
    { typeId: 'if', data: { condition: '{{true}}' } },
    { typeId: 'set', data: { values: 1, vals: 2 } },
  ],
  ["a node of typeId set has no 'then'", some, some],
  [
    'agent: command: expected text or a list of texts',
    { typeId: 'agent', data: { prompt: 'p', command: 3 } },
    null,
  ],
  ["command: unknown key 'cmmd'", { typeId: 'command', data: { cmd: 'x', cmmd: 'y' } }, null],
])('nothing a file asks for is ignored: %s', async (problem, node, whenTrue) => {
  expect(nodeProblems(node, whenTrue).join('\n')).toContain(problem);
  const result = await nodeRig().run(node.typeId, node.data, whenTrue === null ? {} : { whenTrue });
  expect(result).toMatchObject({ kind: 'failed', transient: false, error: expect.stringContaining(problem) });
});
