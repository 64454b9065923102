// `http`: asks a server, and its answer is the out.

import * as z from 'zod';
import { parseDuration } from '../../schema/duration.ts';
import { duration, json, positive } from '../../schema/front/shapes.ts';
import type { Json } from '../../schema/words.ts';
import { defineNode, type NodeWork } from './node.ts';
import { noPart, type Part, part } from './result.ts';
import { sendHttp } from './send-http.ts';
import { writeOut } from './write-out.ts';

/** Of a node without a `timeout` in a stage without one. */
export const DEFAULT_HTTP_TIMEOUT_MS = 60_000;

const METHODS = ['GET', 'HEAD', 'POST', 'PUT', 'PATCH', 'DELETE'] as const;
const MODES = ['json', 'form', 'text', 'none'] as const;
type Mode = (typeof MODES)[number];

/** A template, or a secret by its name: templates cannot say secrets, so that none ends up in a file. */
const header = z.union(
  [
    z.string(),
    z.number(),
    z.boolean(),
    z.strictObject({ secret: z.string().min(1), prefix: z.string().optional() }),
  ],
  { error: 'expected text, or {secret: NAME, prefix: "Bearer "}' },
);

export const headers = z.record(
  z.string().regex(/^[A-Za-z0-9!#$%&'*+.^_`|~-]+$/, 'not the name of a header'),
  header,
);

const data = z
  .strictObject({
    url: z.string().min(1),
    /** POST if there is a body, otherwise GET. */
    method: z.enum(METHODS).optional(),
    headers: headers.optional(),
    body_mode: z.enum(MODES).optional(),
    json_body: json.optional(),
    body: json.optional(),
    timeout: duration.optional(),
    max_bytes: positive.optional(),
  })
  .superRefine((written, context) => {
    for (const message of misfits(written))
      context.addIssue({ code: 'custom', path: message.at, message: message.text });
    for (const name of Object.keys(written.headers ?? {})) {
      if (FRAMING.includes(name.toLowerCase()))
        context.addIssue({ code: 'custom', path: ['headers', name], message: 'this header is set for you' });
    }
  });

type HttpData = z.output<typeof data>;

const FRAMING = ['content-length', 'transfer-encoding', 'connection', 'upgrade', 'expect'];

export const http = defineNode({
  version: 1,
  data,
  run: async (written, work) => {
    const url = work.fill.url(written.url);
    if (!url.ok) return url.failed;
    const given = fillHeaders(written.headers ?? {}, work);
    if (!given.ok) return given.failed;
    const body = fillBody(written, work);
    if (!body.ok) return body.failed;
    const answer = await sendHttp(
      {
        method: written.method ?? (body.value === null ? 'GET' : 'POST'),
        url: url.value,
        headers: { ...TYPES[modeOf(written)], ...given.value },
        body: body.value,
        maxBytes: Math.min(written.max_bytes ?? work.limits.answerBytes, work.limits.answerBytes),
        timeoutMs: httpTimeout(written.timeout, work.timeoutMs),
      },
      work.http,
      work.signal,
    );
    return answer.kind === 'answered' ? writeOut(work.out, answer.body) : answer;
  },
});

/** The node's own, else the stage's, never longer than the stage's. */
export function httpTimeout(written: string | number | undefined, stageMs: number): number {
  const parsed = written === undefined ? null : parseDuration(written);
  const own = parsed?.ok && parsed.ms > 0 ? parsed.ms : null;
  if (stageMs === 0) return own ?? DEFAULT_HTTP_TIMEOUT_MS;
  return Math.min(own ?? stageMs, stageMs);
}

export function fillHeaders(
  written: z.output<typeof headers>,
  work: NodeWork,
): Part<Readonly<Record<string, string>>> {
  const given: Record<string, string> = {};
  for (const [name, value] of Object.entries(written)) {
    const text = fillHeader(value, work);
    if (!text.ok) return text;
    if (/[^\t\x20-\x7e\x80-\xff]/.test(text.value))
      return noPart(`the header '${name}' has a line break or a letter that headers cannot carry`);
    given[name.toLowerCase()] = text.value;
  }
  return part(given);
}

function fillHeader(value: z.output<typeof header>, work: NodeWork): Part<string> {
  if (typeof value !== 'object') return work.fill.text(String(value));
  const secret = work.secret(value.secret);
  return secret === undefined
    ? noPart(`the secret ${value.secret} is not set; list it under 'secrets' and put it into the environment`)
    : part((value.prefix ?? '') + secret);
}

const TYPES: Readonly<Record<Mode, Readonly<Record<string, string>>>> = {
  json: { 'content-type': 'application/json' },
  form: { 'content-type': 'application/x-www-form-urlencoded' },
  text: { 'content-type': 'text/plain; charset=utf-8' },
  none: {},
};

function modeOf({ body_mode, json_body, body }: HttpData): Mode {
  if (body_mode !== undefined) return body_mode;
  if (json_body !== undefined) return 'json';
  return body === undefined ? 'none' : 'text';
}

function fillBody(written: HttpData, { fill }: NodeWork): Part<string | null> {
  const body = written.json_body ?? written.body;
  switch (modeOf(written)) {
    case 'json':
      return fillJson(body ?? null, fill);
    case 'form':
      return fillForm(body as Readonly<Record<string, Json>>, fill);
    case 'text':
      return fill.text(body as string);
    case 'none':
      return part(null);
  }
}

/** A text is a JSON document with templates in it; anything else is a value with templates in its texts. */
export function fillJson(body: Json, fill: NodeWork['fill']): Part<string> {
  if (typeof body !== 'string') {
    const tree = fill.tree(body);
    return tree.ok ? part(JSON.stringify(tree.value)) : tree;
  }
  const text = fill.json(body);
  if (!text.ok) return text;
  try {
    JSON.parse(text.value);
    return text;
  } catch (error) {
    return noPart(`the body is not JSON once its templates are filled in: ${(error as Error).message}`);
  }
}

function fillForm(body: Readonly<Record<string, Json>>, fill: NodeWork['fill']): Part<string> {
  const form = new URLSearchParams();
  for (const [name, value] of Object.entries(body)) {
    const text = fill.text(String(value));
    if (!text.ok) return text;
    form.append(name, text.value);
  }
  return part(form.toString());
}

interface Misfit {
  readonly at: string[];
  readonly text: string;
}

/** What would otherwise be read and then left out. */
function misfits(written: HttpData): Misfit[] {
  const { json_body, body } = written;
  const mode = modeOf(written);
  if (json_body !== undefined && body !== undefined)
    return [{ at: ['body'], text: "write either 'json_body' or 'body'" }];
  if (json_body !== undefined && mode !== 'json')
    return [{ at: ['json_body'], text: `body_mode is ${mode}; write body_mode: json, or 'body'` }];
  if (mode === 'none' && body !== undefined)
    return [{ at: ['body'], text: 'body_mode is none; leave one of the two out' }];
  if (mode !== 'none' && body === undefined && json_body === undefined)
    return [{ at: ['body_mode'], text: `body_mode is ${mode} but there is no body` }];
  if (mode === 'text' && typeof body !== 'string') return [{ at: ['body'], text: 'expected text' }];
  if (mode === 'form' && !isForm(body)) return [{ at: ['body'], text: 'expected a map of names and values' }];
  return [];
}

function isForm(body: Json | undefined): boolean {
  if (body === undefined || body === null || typeof body !== 'object' || Array.isArray(body)) return false;
  return Object.values(body).every((value) => value !== null && typeof value !== 'object');
}
