import { readFileSync } from 'node:fs';
import { expect, test } from 'vitest';
import { whyPrivate } from '../../../runner/nodes/address.ts';
import { namesIn, nodeRig, serve } from './node-rig.ts';

const failed = (error: string | RegExp, transient = false) => ({
  kind: 'failed',
  error: typeof error === 'string' ? error : expect.stringMatching(error),
  transient,
  outcome: null,
});

test('the answer is the out, byte for byte', async () => {
  const bytes = Buffer.from([0, 255, 10, 13, 0x80]);
  const server = await serve((_, response) => response.end(bytes));
  const rig = nodeRig();
  expect(await rig.run('http', { url: `${server.origin}/x` })).toEqual({ kind: 'made' });
  expect(readFileSync(rig.out)).toEqual(bytes);
  expect(server.requests).toMatchObject([{ method: 'GET', url: '/x', body: '' }]);
  expect(namesIn(rig.root)).toEqual(['.sluice-t1.out']);
});

test('values in a JSON body are escaped for the place where they stand', async () => {
  const title = 'He said "hi"\n\\ \u2028 {{params.x}} ", "admin": true';
  const server = await serve((_, response) => response.end('{}'));
  const rig = nodeRig({ 'items/a.json': JSON.stringify({ title, tags: ['a', 'b'], n: 3 }) });
  const scope = { stages: { item: { path: 'items/a.json' } } };
  const json_body =
    '{"quoted": "<{{$.item.content.title}}>", "typed": {{$.item.content.tags}}, "n": {{$.item.content.n}}}';
  const data = { url: server.origin, method: 'POST', body_mode: 'json', json_body };
  expect(await rig.run('http', data, { scope })).toEqual({ kind: 'made' });
  expect(JSON.parse(server.requests[0]!.body)).toEqual({ quoted: `<${title}>`, typed: ['a', 'b'], n: 3 });
  expect(server.requests[0]!.headers['content-type']).toBe('application/json');
});

test('a JSON body may be a value with templates in its texts', async () => {
  const server = await serve((_, response) => response.end('{}'));
  const rig = nodeRig();
  const json_body = { a: ['{{params.list}}', 'n={{params.n}}'], b: { c: null } };
  await rig.run('http', { url: server.origin, json_body }, { scope: { params: { list: [1, '"'], n: 2 } } });
  expect(JSON.parse(server.requests[0]!.body)).toEqual({ a: [[1, '"'], 'n=2'], b: { c: null } });
  expect(server.requests[0]!.method).toBe('POST');
});

test('a body that is not JSON once it is filled in is never sent', async () => {
  const server = await serve((_, response) => response.end());
  const result = await nodeRig().run('http', { url: server.origin, json_body: '{"a": oops}' });
  expect(result).toEqual(failed(/^the body is not JSON once its templates are filled in/));
  expect(server.requests).toEqual([]);
});

test.each([
  ['form', { q: 'a&b={{params.x}}', n: 1 }, 'q=a%26b%3D%22%0A&n=1', 'application/x-www-form-urlencoded'],
  ['text', 'plain {{params.x}}', 'plain "\n', 'text/plain; charset=utf-8'],
])('body_mode %s', async (body_mode, body, sent, type) => {
  const server = await serve((_, response) => response.end());
  await nodeRig().run('http', { url: server.origin, body_mode, body }, { scope: { params: { x: '"\n' } } });
  expect(server.requests[0]).toMatchObject({ body: sent, headers: { 'content-type': type } });
});

test('a value is one part of a URL and cannot lead elsewhere, unless the URL begins with it', async () => {
  const server = await serve((_, response) => response.end());
  const rig = nodeRig();
  const scope = { params: { base: `${server.origin}/api`, id: '../admin?x=1#y', up: '..' } };
  await rig.run('http', { url: '{{params.base}}/items/{{params.id}}?q={{params.id}}' }, { scope });
  const encoded = encodeURIComponent('../admin?x=1#y');
  expect(server.requests[0]!.url).toBe(`/api/items/${encoded}?q=${encoded}`);
  const climbing = await rig.run('http', { url: `${server.origin}/items/{{params.up}}/x` }, { scope });
  expect(climbing).toEqual(failed(/^\{\{params.up\}\} is '\.\.'/));
  expect(server.requests).toHaveLength(1);
});

test('an answer other than 2xx fails with its status and the first 200 characters', async () => {
  const server = await serve((request, response) => {
    response.writeHead(Number(request.url!.slice(1))).end(`no\n${'é'.repeat(500)}`);
  });
  const rig = nodeRig();
  const shown = `no\\n${'é'.repeat(197)}`;
  expect(await rig.run('http', { url: `${server.origin}/404` })).toEqual(
    failed(`${server.origin}/404 answered 404 Not Found: ${shown}`),
  );
  expect(await rig.run('http', { url: `${server.origin}/503` })).toEqual(
    failed(`${server.origin}/503 answered 503 Service Unavailable: ${shown}`, true),
  );
  expect(await rig.run('http', { url: `${server.origin}/429` })).toMatchObject({ transient: true });
  expect(rig.made()).toBeNull();
});

test('an answer larger than the cap is given up while it streams', async () => {
  let closed: () => void;
  const gone = new Promise<void>((resolve) => {
    closed = resolve;
  });
  const server = await serve((_, response) => {
    response.on('close', () => closed());
    const more = () => {
      while (!response.destroyed && response.write(Buffer.alloc(65_536)));
    };
    response.on('drain', more);
    more();
  });
  const rig = nodeRig();
  const limits = { answerBytes: 100_000, inputBytes: 1 };
  const result = await rig.run('http', { url: server.origin }, { context: { limits } });
  expect(result).toEqual(failed(`the answer of ${server.origin}/ is larger than 100000 bytes`));
  await gone;
  expect(rig.made()).toBeNull();
});

test('a node may ask for less than the cap, never for more', async () => {
  const server = await serve((_, response) => response.end('12345'));
  const rig = nodeRig();
  expect(await rig.run('http', { url: server.origin, max_bytes: 4 })).toMatchObject({ kind: 'failed' });
  expect(await rig.run('http', { url: server.origin, max_bytes: 5 })).toEqual({ kind: 'made' });
  const limits = { answerBytes: 4, inputBytes: 1 };
  const wanted = await rig.run('http', { url: server.origin, max_bytes: 50 }, { context: { limits } });
  expect(wanted).toMatchObject({ kind: 'failed' });
});

test('an answer that breaks off is a failure for now, and leaves no out', async () => {
  const server = await serve((_, response) => {
    response.writeHead(200, { 'content-length': '1000' });
    response.write('half', () => response.destroy());
  });
  const rig = nodeRig();
  expect(await rig.run('http', { url: server.origin })).toMatchObject({ kind: 'failed', transient: true });
  expect(rig.made()).toBeNull();
});

test('a compressed answer that nobody asked for is not taken for content', async () => {
  const server = await serve((_, response) => {
    response.writeHead(200, { 'content-encoding': 'gzip' }).end('x');
  });
  expect(await nodeRig().run('http', { url: server.origin })).toEqual(failed(/the encoding 'gzip'/));
  expect(server.requests[0]!.headers['accept-encoding']).toBe('identity');
});

test('a server that does not answer in time is a time-out', async () => {
  const server = await serve(() => {});
  const result = await nodeRig().run('http', { url: server.origin, timeout: '50ms' });
  expect(result).toEqual({
    kind: 'failed',
    error: `${server.origin}/ did not answer within 50ms`,
    transient: true,
    outcome: { kind: 'timeout' },
  });
});

test("the stage's time is the longest a node may take", async () => {
  const server = await serve(() => {});
  const data = { url: server.origin, timeout: '1h' };
  const result = await nodeRig().run('http', data, { context: { timeoutMs: 50 } });
  expect(result).toMatchObject({ outcome: { kind: 'timeout' } });
});

test('a name that is never resolved is a time-out as well', async () => {
  const http = { resolve: () => new Promise<never>(() => {}), refuse: null };
  const data = { url: 'http://slow.test/', timeout: '20ms' };
  expect(await nodeRig().run('http', data, { context: { http } })).toMatchObject({
    outcome: { kind: 'timeout' },
  });
});

test('who cancels gets no failure', async () => {
  const stop = new AbortController();
  const server = await serve(() => stop.abort());
  const context = { signal: stop.signal };
  expect(await nodeRig().run('http', { url: server.origin }, { context })).toEqual({ kind: 'cancelled' });
  expect(await nodeRig().run('http', { url: server.origin }, { context })).toEqual({ kind: 'cancelled' });
  expect(server.requests).toHaveLength(1);
});

test('a server that is not there is a failure for now', async () => {
  const server = await serve(() => {});
  const result = await nodeRig().run('http', { url: 'http://127.0.0.1:1/' });
  expect(result).toEqual(failed(/^http:\/\/127\.0\.0\.1:1\/ could not be asked: .*ECONNREFUSED/, true));
  expect(server.requests).toEqual([]);
});

test.each(['ftp://x/', 'file:///etc/passwd', 'not a url', '//x'])('%s is refused', async (url) => {
  expect(await nodeRig().run('http', { url })).toEqual(failed(/is not an http or https URL$/));
});

test('redirects are followed as browsers do: 303 becomes GET, 307 keeps the body', async () => {
  const server = await serve((request, response) => {
    if (request.url === '/end') response.end('there');
    else response.writeHead(Number(request.url!.slice(1)), { location: '/end' }).end();
  });
  const rig = nodeRig();
  for (const status of [301, 303, 307]) {
    const data = { url: `${server.origin}/${status}`, body_mode: 'text', body: 'b' };
    expect(await rig.run('http', data)).toEqual({ kind: 'made' });
  }
  const ends = server.requests.filter(({ url }) => url === '/end');
  expect(ends.map(({ method, body }) => [method, body])).toEqual([
    ['GET', ''],
    ['GET', ''],
    ['POST', 'b'],
  ]);
  expect(ends[0]!.headers['content-type']).toBeUndefined();
});

test('a redirect in a circle ends', async () => {
  const server = await serve((_, response) => response.writeHead(302, { location: '/' }).end());
  expect(await nodeRig().run('http', { url: server.origin })).toEqual(failed(/redirects more than 10 times/));
});

test('a redirect to another scheme is refused', async () => {
  const server = await serve((_, response) =>
    response.writeHead(302, { location: 'file:///etc/passwd' }).end(),
  );
  expect(await nodeRig().run('http', { url: server.origin })).toEqual(failed(/is not an http or https URL/));
});

test('headers of the file stay with the host they were written for', async () => {
  const there = await serve((_, response) => response.end('ok'));
  const here = await serve((request, response) => {
    const location = request.url === '/' ? '/again' : there.origin;
    response.writeHead(302, { location }).end();
  });
  const headers = {
    Authorization: { secret: 'TOKEN', prefix: 'Bearer ' },
    'X-Key': 'k',
    Accept: 'text/plain',
  };
  const result = await nodeRig().run('http', { url: here.origin, headers }, { secrets: { TOKEN: 's3cret' } });
  expect(result).toEqual({ kind: 'made' });
  expect(here.requests.map(({ headers }) => headers.authorization)).toEqual([
    'Bearer s3cret',
    'Bearer s3cret',
  ]);
  expect(there.requests[0]!.headers).toMatchObject({ accept: 'text/plain' });
  expect(there.requests[0]!.headers).not.toHaveProperty('authorization');
  expect(there.requests[0]!.headers).not.toHaveProperty('x-key');
});

test('a secret that the server sends back is not shown', async () => {
  const server = await serve((request, response) =>
    response.writeHead(400).end(`you sent ${request.headers.authorization}`),
  );
  const data = { url: server.origin, headers: { Authorization: { secret: 'TOKEN' } } };
  const result = await nodeRig().run('http', data, { secrets: { TOKEN: 's3cret' } });
  expect(result).toEqual(failed(/answered 400 Bad Request: you sent \*\*\*$/));
  expect(await nodeRig().run('http', data)).toEqual(failed(/^the secret TOKEN is not set; list it/));
});

test('a line break in a header value is refused before anything is sent', async () => {
  const server = await serve((_, response) => response.end());
  const scope = { params: { x: 'a\r\nX-Evil: 1' } };
  const result = await nodeRig().run(
    'http',
    { url: server.origin, headers: { 'X-A': '{{params.x}}' } },
    { scope },
  );
  expect(result).toEqual(failed(/^the header 'X-A' has a line break/));
  expect(server.requests).toEqual([]);
});

test.each([
  ['http://127.0.0.1/', 'loopback'],
  ['http://2130706433/', 'loopback'],
  ['http://0x7f.1/', 'loopback'],
  ['http://0/', 'this machine'],
  ['http://[::1]/', 'loopback'],
  ['http://[::ffff:10.0.0.1]/', 'private'],
  ['http://[::ffff:a9fe:a9fe]/', 'link-local'],
  ['http://[fd00:ec2::254]/', 'private'],
  ['http://169.254.169.254/latest/meta-data', 'link-local'],
])('a runner that denies private addresses refuses %s', async (url, what) => {
  const http = { resolve: () => Promise.reject(new Error('asked')), refuse: whyPrivate };
  const result = await nodeRig().run('http', { url }, { context: { http } });
  expect(result).toEqual(failed(new RegExp(`is refused: .* is ${what}, and this runner denies private`)));
});

test('a name is refused if any of its addresses is private', async () => {
  const resolve = async () => [
    { address: '93.184.216.34', family: 4 as const },
    { address: 'fe80::1', family: 6 as const },
  ];
  const result = await nodeRig().run(
    'http',
    { url: 'http://both.test/' },
    { context: { http: { resolve, refuse: whyPrivate } } },
  );
  expect(result).toEqual(failed(/'both.test' is refused: fe80::1 is link-local/));
});

/** Takes 127.0.0.1 for a public address, so that a server of the test can stand for one. */
const denied = (address: string) => (address === '127.0.0.1' ? null : whyPrivate(address));

test('a redirect to a private address is refused like the address itself', async () => {
  const inside = await serve((_, response) => response.end('the metadata'), '127.0.0.2');
  const server = await serve((request, response) => {
    const location = request.url === '/by-name' ? `http://inside.test:${inside.port}/` : `${inside.origin}/`;
    response.writeHead(307, { location }).end();
  });
  const resolve = async () => [{ address: '127.0.0.2', family: 4 as const }];
  const rig = nodeRig();
  for (const path of ['/by-name', '/by-address']) {
    const context = { http: { resolve, refuse: denied } };
    const result = await rig.run('http', { url: server.origin + path }, { context });
    expect(result).toEqual(failed(/is refused: 127\.0\.0\.2 is loopback/));
  }
  expect(inside.requests).toEqual([]);
  expect(rig.made()).toBeNull();
});

test('a name that resolves to something else a moment later is still asked at the address that was checked', async () => {
  const inside = await serve((_, response) => response.end('inside'), '127.0.0.2');
  const server = await serve((_, response) => response.end('outside'));
  const answers = ['127.0.0.1', '127.0.0.2'];
  const resolve = async () => [{ address: answers.shift()!, family: 4 as const }];
  const rig = nodeRig();
  const url = `http://rebound.test:${server.port}/`;
  expect(await rig.run('http', { url }, { context: { http: { resolve, refuse: denied } } })).toEqual({
    kind: 'made',
  });
  expect(rig.made()).toBe('outside');
  expect(answers).toEqual(['127.0.0.2']);
  expect(server.requests[0]!.headers.host).toBe(`rebound.test:${server.port}`);
  expect(inside.requests).toEqual([]);
});
