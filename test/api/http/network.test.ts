import { request } from 'node:http';
import type { AddressInfo } from 'node:net';
import { serve } from '@hono/node-server';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { readText } from '../../../api/http/body.ts';
import { allow } from '../../../api/http/route.ts';
import { smallApp } from './small-app.ts';

const stored: string[] = [];
const { app, reported } = smallApp((routes) =>
  routes.post('/text', allow('public', { summary: 'text', rawBody: 'text/plain' }), async (c) => {
    stored.push(await readText(c));
    return c.text('stored');
  }),
);

let server: ReturnType<typeof serve>;
let port: number;
beforeAll(async () => {
  await new Promise<void>((resolve) => {
    server = serve({ fetch: app.fetch, hostname: '127.0.0.1', port: 0 }, () => resolve());
  });
  port = (server.address() as AddressInfo).port;
});
afterAll(() => new Promise((resolve) => server.close(resolve)));

interface Answer {
  readonly status: number;
  readonly text: string;
  readonly sentBytes: number;
}

/** Without a length the body goes out in chunks; sends until it was all sent or answered. */
function send(bytes: number, headers: Record<string, string>): Promise<Answer> {
  return new Promise((resolve, reject) => {
    let sentBytes = 0;
    let isAnswered = false;
    const chunk = Buffer.alloc(64_000, 'x');
    const outgoing = request(
      { port, host: '127.0.0.1', path: '/text', method: 'POST', headers },
      (incoming) => {
        isAnswered = true;
        let text = '';
        incoming.setEncoding('utf8');
        incoming.on('data', (part) => {
          text += part;
        });
        incoming.on('end', () => {
          resolve({ status: incoming.statusCode!, text, sentBytes });
          outgoing.destroy();
        });
      },
    );
    outgoing.on('error', (error) => {
      if (!isAnswered) reject(error);
    });
    const write = (): void => {
      while (sentBytes < bytes && !isAnswered) {
        const part = chunk.subarray(0, Math.min(chunk.length, bytes - sentBytes));
        sentBytes += part.length;
        if (!outgoing.write(part)) return void outgoing.once('drain', write);
      }
      if (!isAnswered) outgoing.end();
    };
    write();
  });
}

describe('over real HTTP', () => {
  it('a body of 10 MB gets its 413', async () => {
    const answer = await send(10_000_000, { 'Content-Length': '10000000' });
    expect(answer.status).toBe(413);
    expect(JSON.parse(answer.text)).toMatchObject({ code: 'body-too-large' });
    expect(stored).toEqual([]);
  });

  it('a chunked body is cut long before its end', async () => {
    const answer = await send(1_000_000_000, {});
    expect(answer.status).toBe(413);
    expect(answer.sentBytes).toBeLessThan(50_000_000);
    expect(stored).toEqual([]);
  });

  it('a chunked body within the limit is read', async () => {
    expect((await send(900_000, {})).status).toBe(200);
    expect(stored.pop()?.length).toBe(900_000);
  });

  it('a client that goes away in the middle is no incident', async () => {
    await new Promise<void>((resolve) => {
      const outgoing = request({ port, host: '127.0.0.1', path: '/text', method: 'POST' });
      outgoing.on('error', () => resolve());
      outgoing.on('close', () => resolve());
      outgoing.write('x'.repeat(1_000), () => outgoing.destroy());
    });
    expect((await send(10, {})).status).toBe(200);
    expect(reported).toEqual([]);
  });
});
