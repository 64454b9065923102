// Reads a request's body while counting its bytes, whatever the headers say about its length.

import type { Context } from 'hono';
import type { AppEnv } from '../parts.ts';
import { placeOfMistake } from './json-place.ts';
import { Problem } from './problem.ts';
import { checkText, checkValue } from './text-check.ts';

export const MAX_BODY_BYTES = 1_000_000;

export async function readText(c: Context<AppEnv>): Promise<string> {
  const text = decode(await readBytes(c));
  checkText(text, 'the body');
  return text;
}

export async function readJson(c: Context<AppEnv>): Promise<unknown> {
  requireJsonType(c.req.header('Content-Type'));
  const text = decode(await readBytes(c));
  const value = parse(text);
  checkValue(value);
  return value;
}

async function readBytes(c: Context<AppEnv>): Promise<Uint8Array> {
  refuseEncoded(c.req.header('Content-Encoding'));
  const length = c.req.header('Content-Length');
  if (Number(length) > MAX_BODY_BYTES) throw tooLarge();
  const bytes = endsByItself(c, length)
    ? new Uint8Array(await c.req.raw.arrayBuffer().catch(interrupted))
    : await readCounting(c.req.raw);
  if (bytes.byteLength > MAX_BODY_BYTES) throw tooLarge();
  return bytes;
}

/** Then it need not be read chunk by chunk, which over HTTP costs more than all else that a request does here. */
function endsByItself({ env }: Context<AppEnv>, length: string | undefined): boolean {
  const isInMemory = env?.trusted !== undefined;
  return isInMemory || (env?.keepsLength === true && /^\d+$/.test(length ?? ''));
}

/** Never holds more than the limit and one chunk. */
async function readCounting(request: Request): Promise<Uint8Array> {
  if (request.body === null) return new Uint8Array(0);
  const reader = request.body.getReader();
  const chunks: Uint8Array[] = [];
  let size = 0;
  for (;;) {
    const { done, value } = await reader.read().catch(interrupted);
    if (done) return join(chunks, size);
    size += value.byteLength;
    if (size > MAX_BODY_BYTES) {
      // Not awaited: a sender that never answers the cancellation must not hold the refusal back.
      reader.cancel().catch(() => {});
      throw tooLarge();
    }
    chunks.push(value);
  }
}

function join(chunks: readonly Uint8Array[], size: number): Uint8Array {
  if (chunks.length === 1) return chunks[0]!;
  const whole = new Uint8Array(size);
  let offset = 0;
  for (const chunk of chunks) {
    whole.set(chunk, offset);
    offset += chunk.byteLength;
  }
  return whole;
}

const UTF8 = new TextDecoder('utf-8', { fatal: true });

function decode(bytes: Uint8Array): string {
  try {
    return UTF8.decode(bytes);
  } catch (cause) {
    throw new Problem({
      status: 400,
      code: 'not-utf8',
      message: 'the body is not UTF-8',
      hint: 'send the text encoded as UTF-8',
      cause,
    });
  }
}

function parse(text: string): unknown {
  try {
    return JSON.parse(text);
  } catch {
    // The parser's own message quotes the body, so it is not passed on.
    const place = placeOfMistake(text);
    throw new Problem({
      status: 400,
      code: 'not-json',
      message:
        text.trim() === ''
          ? 'the body is empty, JSON was expected'
          : `the body is not JSON: line ${place.line}, column ${place.column}`,
      hint: 'send one JSON document',
      extra: text.trim() === '' ? {} : { ...place },
    });
  }
}

/** Browsers send other types across sites without asking; this one they may not. */
function requireJsonType(type: string | undefined): void {
  if (/^application\/([\w.-]+\+)?json\s*(;|$)/i.test(type ?? '')) return;
  throw new Problem({
    status: 415,
    code: 'not-json-type',
    message: 'the Content-Type is not application/json',
    hint: 'send the header Content-Type: application/json',
  });
}

function refuseEncoded(encoding: string | undefined): void {
  if (encoding === undefined || encoding.trim().toLowerCase() === 'identity') return;
  throw new Problem({
    status: 415,
    code: 'encoded-body',
    message: 'compressed bodies are not read',
    hint: 'send the body without Content-Encoding',
  });
}

function tooLarge(): Problem {
  return new Problem({
    status: 413,
    code: 'body-too-large',
    message: `the body is larger than ${MAX_BODY_BYTES} bytes`,
    hint: 'send smaller batches, or leave out what the server does not need',
    extra: { limit_bytes: MAX_BODY_BYTES },
  });
}

function interrupted(cause: unknown): never {
  throw new Problem({
    status: 400,
    code: 'body-interrupted',
    message: 'the body ended before it was complete',
    hint: 'send the request again',
    cause,
  });
}
