// `sluice export manifests`: the tree of JSON files, written by the real program from a project and over the network.

import { existsSync, mkdirSync, readdirSync, readFileSync, rmSync, statSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { describe, expect, test } from 'vitest';
import { fileNameOf } from '../../cli/export/file-names.ts';
import { loadBlake3 } from '../../host/blake3.ts';
import { temporaryFolder } from '../rig/cli.ts';
import { project } from '../rig/project.ts';
import { startServe } from '../rig/serve.ts';
import { startUp } from '../rig/up.ts';

const NEWS = JSON.stringify({
  ...{ mode: 'pipeline', stateRoot: 'data', name: 'news', retryPolicy: { maxAttempts: 1 } },
  stages: [
    { id: 'item', type: 'source', pattern: 'feeds/{feed}/{guid}.json' },
    {
      ...{ id: 'score', type: 'transform', input: 'item', pattern: 'scores/{feed}/{guid}.json' },
      node: { typeId: 'command', data: { cmd: 'grep -v bad {{input}} > {{output}}' } },
    },
  ],
});

const news = () =>
  project({
    'p.yaml': NEWS,
    'data/feeds/hn/1.json': '{"title": "good"}\n',
    'data/feeds/hn/2.json': '{"title": "bad"}\n',
  });

const json = (root: string, file: string) => JSON.parse(readFileSync(join(root, file), 'utf8'));

describe('export manifests', () => {
  test('writes a manifest for each entity, a file of failures where there are any, and an index', async () => {
    const p = news();
    await p.run();
    const { code, stdout } = await p.sluice('export', 'manifests', 'p.yaml', '--to', 'tree');
    expect({ code, stdout }).toEqual({
      code: 0,
      stdout: `news: 2 entities, 1 with failures, 3 files written in ${join(p.root, 'tree')}\n`,
    });
    const tree = join(p.root, 'tree');
    expect(json(tree, 'manifests/hn%2F1.json')).toMatchObject({
      entity_id: 'hn/1',
      states: {
        item: { path: 'data/feeds/hn/1.json', is_source: true, discovered_at: expect.stringMatching(/Z$/) },
        score: {
          path: 'data/scores/hn/1.json',
          code_hash: expect.stringMatching(/^blake3:/),
          produced_by: 'news#score',
          input_hashes: { item: json(tree, 'manifests/hn%2F1.json').states.item.content_hash },
        },
      },
    });
    expect(json(tree, 'failures/hn%2F2.json')).toMatchObject({
      entity_id: 'hn/2',
      failures: { score: { error: 'exit code 1', attempts: 1, next_retry_at: null } },
    });
    expect(json(tree, 'index.json')).toMatchObject({
      workflow: 'news',
      entities: {
        'hn/1': { files: ['manifests/hn%2F1.json'], stages: { item: 'fresh', score: 'fresh' } },
        'hn/2': { files: ['manifests/hn%2F2.json', 'failures/hn%2F2.json'] },
      },
    });
  });

  test('writes again only what changed, and removes only what it wrote of entities that are gone', async () => {
    const p = news();
    const tree = join(p.root, '.sluice-manifests');
    await p.run();
    await p.sluice('export', 'manifests', 'p.yaml');
    const before = statSync(join(tree, 'manifests/hn%2F1.json'));
    writeFileSync(join(tree, 'manifests/mine.json'), '{}');
    rmSync(join(p.root, 'data/feeds/hn/2.json'));
    const { stdout } = await p.sluice('export', 'manifests', 'p.yaml', '--json');
    expect(JSON.parse(stdout)).toMatchObject({
      entities: 1,
      failures: 0,
      written: 0,
      unchanged: 1,
      removed: 2,
    });
    expect(readdirSync(join(tree, 'manifests')).sort()).toEqual(['hn%2F1.json', 'mine.json']);
    expect(readdirSync(join(tree, 'failures'))).toEqual([]);
    expect(statSync(join(tree, 'manifests/hn%2F1.json')).ino).toBe(before.ino);
    expect(readdirSync(tree).sort()).toEqual(['failures', 'index.json', 'manifests']);
  });

  test('asks the process that is up, and a control plane elsewhere; one workflow need not be named', async () => {
    const p = news();
    await p.run();
    const up = await startUp(p.root, 'p.yaml');
    const owned = await p.sluice('export', 'manifests', '--to', 'a');
    expect(owned).toMatchObject({ code: 0, stdout: expect.stringContaining('2 entities') });
    const elsewhere = project({ token: p.read('.sluice/admin-token') });
    const way = ['--api', up.url, '--token-file', 'token'];
    const far = await elsewhere.sluice('export', 'manifests', 'news', '--to', 'b', ...way);
    expect(far).toMatchObject({ code: 0, stdout: expect.stringContaining('2 entities') });
    expect(readFileSync(join(elsewhere.root, 'b/index.json'), 'utf8')).toBe(p.read('a/index.json'));
    expect(elsewhere.has('.sluice')).toBe(false);
  });

  test('takes several pages one after the other', { timeout: 30_000 }, async () => {
    const cwd = temporaryFolder({ '.git/HEAD': '' });
    const server = await startServe(cwd);
    const headers = { 'Content-Type': 'application/json' };
    await server.ask('/api/workflows/news?root=/srv/news', { method: 'PUT', body: NEWS });
    const hash = `blake3:${'0'.repeat(64)}`;
    const observations = Array.from({ length: 1_201 }, (_, i) => ({
      ...{ path: `/srv/news/data/feeds/hn/${i}.json`, hash, size: 1 },
    }));
    const body = JSON.stringify({ target: 'local', watcher: 'w', observations });
    await server.ask('/api/observations', { method: 'POST', headers, body });
    const p = project({});
    const way = ['--api', server.url, '--token-file', join(cwd, '.sluice/admin-token')];
    const { stdout } = await p.sluice('export', 'manifests', 'news', '--to', 't', '--json', ...way);
    expect(JSON.parse(stdout)).toMatchObject({ entities: 1_201, written: 1_201, removed: 0 });
    expect(Object.keys(json(p.root, 't/index.json').entities)).toHaveLength(1_201);
  });

  test.each([
    [
      'somebody else’s tree',
      { 't/index.json': '{"entities": []}' },
      ['p.yaml', '--to', 't'],
      'was not written by sluice',
    ],
    ['a file in the way', { t: '' }, ['p.yaml', '--to', 't'], 'cannot write'],
    ['a name nobody knows', {}, ['nobody'], 'nobody'],
  ])('%s is refused with the next step, and nothing is written', async (_, files, args, said) => {
    const p = news();
    await p.run();
    mkdirSync(join(p.root, 'x'));
    for (const [name, content] of Object.entries(files)) {
      if (name.includes('/')) mkdirSync(join(p.root, 't'));
      p.write(name, content as string);
    }
    const { code, stdout, stderr } = await p.sluice('export', 'manifests', ...args);
    expect({ code, stdout }).toEqual({ code: 1, stdout: '' });
    expect(stderr).toContain(said);
    expect(stderr).toContain('→');
    expect(existsSync(join(p.root, 't/manifests'))).toBe(false);
  });

  test('refuses the tree of another workflow', async () => {
    const p = news();
    await p.run();
    await p.sluice('export', 'manifests', 'p.yaml');
    p.write('q.yaml', NEWS.replace('"news"', '"other"').replaceAll('scores', 'marks'));
    const { code, stderr } = await p.sluice('export', 'manifests', 'q.yaml');
    expect({ code, stderr }).toMatchObject({
      code: 1,
      stderr: expect.stringContaining("manifests of 'news'"),
    });
  });
});

describe('an entity has a file name that', () => {
  const { hash } = loadBlake3();
  const ids = [
    '',
    '.',
    '.x',
    'a/b',
    'a%2Fb',
    'a\\b',
    '🦊',
    '-rf',
    '$(x)',
    'a\nb',
    'é'.repeat(300),
    `${'é'.repeat(300)}x`,
  ];

  test('is its own, one plain word, and short enough', () => {
    const names = ids.map((id) => fileNameOf(id, hash));
    expect(new Set(names).size).toBe(ids.length);
    for (const name of names) expect(name).toMatch(/^[^./][^/\\\n\0]{0,230}\.json$/);
  });
});
