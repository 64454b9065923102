import { describe, expect, it } from 'vitest';
import { MAX_BODY_BYTES, readJson, readText } from '../../../api/http/body.ts';
import { allow } from '../../../api/http/route.ts';
import { problemOf, smallApp } from './small-app.ts';

const stored: unknown[] = [];
const { app, reported } = smallApp((routes) => {
  routes.post('/text', allow('public', { summary: 'text', rawBody: 'text/plain' }), async (c) => {
    stored.push(await readText(c));
    return c.json({ length: (stored.at(-1) as string).length });
  });
  routes.post('/json', allow('public', { summary: 'json' }), async (c) => {
    stored.push(await readJson(c));
    return c.json(stored.at(-1) as object);
  });
});

type Body = string | Uint8Array<ArrayBuffer> | ReadableStream;

async function post(path: string, body: Body, headers: Record<string, string> = {}) {
  const before = stored.length;
  const response = await app.request(path, {
    method: 'POST',
    body,
    headers: { 'Content-Type': 'application/json', ...headers },
    ...(body instanceof ReadableStream ? { duplex: 'half' } : {}),
  } as RequestInit);
  if (!response.ok) expect(stored.length).toBe(before);
  return response;
}

/** Endless zeros, and how much of them anybody asked for. */
function endless(chunkBytes: number) {
  const seen = { bytes: 0, isCancelled: false };
  const stream = new ReadableStream<Uint8Array>(
    {
      pull(controller) {
        seen.bytes += chunkBytes;
        controller.enqueue(new Uint8Array(chunkBytes).fill(0x30));
      },
      cancel() {
        seen.isCancelled = true;
      },
    },
    { highWaterMark: 0 },
  );
  return { stream, seen };
}

describe('a body that is too large', () => {
  it('is refused with the limit and the next step', async () => {
    const response = await post('/text', 'x'.repeat(10_000_000));
    expect(response.status).toBe(413);
    expect(await problemOf(response)).toMatchObject({
      code: 'body-too-large',
      limit_bytes: MAX_BODY_BYTES,
      hint: expect.stringContaining('smaller batches'),
    });
  });

  it('is read no further than the limit when it comes in chunks without an end', async () => {
    const { stream, seen } = endless(64_000);
    expect((await post('/text', stream)).status).toBe(413);
    expect(seen.bytes).toBeLessThanOrEqual(MAX_BODY_BYTES + 2 * 64_000);
    expect(seen.isCancelled).toBe(true);
  });

  it('is not read at all when it says so itself', async () => {
    const { stream, seen } = endless(64_000);
    expect((await post('/text', stream, { 'Content-Length': '1000001' })).status).toBe(413);
    expect(seen.bytes).toBe(0);
  });

  it('is refused whatever smaller length it claims', async () => {
    const { stream } = endless(64_000);
    expect((await post('/text', stream, { 'Content-Length': '10' })).status).toBe(413);
    expect((await post('/text', 'x'.repeat(MAX_BODY_BYTES + 1), { 'Content-Length': '-1' })).status).toBe(
      413,
    );
  });

  it('begins one byte after the limit', async () => {
    expect(await (await post('/text', 'x'.repeat(MAX_BODY_BYTES))).json()).toEqual({
      length: MAX_BODY_BYTES,
    });
    expect((await post('/text', 'x'.repeat(MAX_BODY_BYTES + 1))).status).toBe(413);
  });
});

describe('a body', () => {
  it('is put together from its chunks, also where one splits a character', async () => {
    const bytes = new TextEncoder().encode('{"name":"Grüße 🎈"}');
    const stream = new ReadableStream({
      start(controller) {
        for (const byte of bytes) controller.enqueue(new Uint8Array([byte]));
        controller.close();
      },
    });
    expect(await (await post('/json', stream)).json()).toEqual({ name: 'Grüße 🎈' });
  });

  it.each([
    ['bytes that are no UTF-8', new Uint8Array([0x22, 0xff, 0xfe, 0x22])],
    ['a surrogate written as bytes', new Uint8Array([0x22, 0xed, 0xa0, 0x80, 0x22])],
    ['a character that is cut off', new Uint8Array([0x22, 0xe2, 0x82])],
  ])('is refused with %s', async (_what, bytes) => {
    const response = await post('/json', bytes);
    expect(response.status).toBe(400);
    expect(await problemOf(response)).toMatchObject({ code: 'not-utf8' });
  });

  it('is the caller’s mistake when it breaks off', async () => {
    const stream = new ReadableStream({
      pull: (controller) => controller.error(new Error('connection lost')),
    });
    expect(await problemOf(post('/text', stream))).toMatchObject({ status: 400, code: 'body-interrupted' });
    expect(reported).toEqual([]);
  });

  it('is refused when compressed', async () => {
    expect((await post('/json', '{}', { 'Content-Encoding': 'gzip' })).status).toBe(415);
  });

  it('is refused as JSON under another type, which a page of another site could send', async () => {
    for (const type of ['text/plain', 'application/x-www-form-urlencoded', 'application/jsonx']) {
      expect((await post('/json', '{}', { 'Content-Type': type })).status).toBe(415);
    }
    expect((await post('/json', '{}', { 'Content-Type': 'application/json; charset=utf-8' })).status).toBe(
      200,
    );
  });

  it.each([
    ['"\\u0000"', 'unusable-text'],
    ['{"a":[{"b":"x\\u0000y"}]}', 'unusable-text'],
    ['{"a\\u0000":1}', 'unusable-text'],
    ['["\\ud800"]', 'unusable-text'],
    ['{"\\udfff":1}', 'unusable-text'],
    [`${'['.repeat(400_000)}${']'.repeat(400_000)}`, 'body-too-deep'],
    [`${'{"a":'.repeat(100_000)}1${'}'.repeat(100_000)}`, 'body-too-deep'],
  ])('is refused when the database could not hold it: %.20s', async (text, code) => {
    expect(await problemOf(post('/json', text))).toMatchObject({ status: 400, code });
  });

  it('is refused as text with NUL in it', async () => {
    expect(await problemOf(post('/text', 'a\0b'))).toMatchObject({ status: 400, code: 'unusable-text' });
  });

  it('keeps any other unicode', async () => {
    const text = '\u{1f388}\u{10ffff}\u0001\u2028';
    expect(await (await post('/json', JSON.stringify({ text }))).json()).toEqual({ text });
  });
});

describe('malformed JSON', () => {
  it.each([
    ['{"a": 1,}', 1, 9],
    ['{\n  "a": 1\n  "b": 2\n}', 3, 3],
    ["{'a': 1}", 1, 2],
    ['[1, 2', 1, 6],
    ['{"a" 1}', 1, 6],
    ['[1,, 2]', 1, 4],
    ['[01]', 1, 2],
    ['{"a": tru}', 1, 7],
    ['{"a": "x\ny"}', 1, 7],
    ['{} {}', 1, 4],
    ['[1}', 1, 3],
    ['{"a":1]', 1, 7],
    ['nope', 1, 1],
    ['[1 2]', 1, 4],
  ])('is refused with its place: %j', async (text, line, column) => {
    const problem = await problemOf(post('/json', text));
    expect(problem).toMatchObject({ status: 400, code: 'not-json', line, column });
  });

  it('is never quoted back', async () => {
    const response = await post('/json', '{"password": hunter2}');
    expect(await response.text()).not.toContain('hunter2');
  });

  it('is called empty when it is', async () => {
    for (const text of ['', '  \n']) {
      expect((await problemOf(post('/json', text))).detail).toBe('the body is empty, JSON was expected');
    }
  });
});
