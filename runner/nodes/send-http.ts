// Sends one request and reads the answer, bounded in time and size, following redirects under the same checks.
//
// Every hop resolves its host once, and the connection goes to the addresses that were checked: a name that
// resolves to something else a moment later gains nothing. No connection is kept for a later request.

import { lookup as lookUp } from 'node:dns/promises';
import { type IncomingMessage, request as requestHttp } from 'node:http';
import { request as requestHttps } from 'node:https';
import { isIP, type LookupFunction } from 'node:net';
import { shown } from '../../schema/diagnostic.ts';
import { formatDuration } from '../../schema/duration.ts';
import { CANCELLED, type Failed, failed, failedForNow, timedOut } from './result.ts';

export interface Address {
  readonly address: string;
  readonly family: 4 | 6;
}

export interface HttpAccess {
  readonly resolve: (host: string) => Promise<readonly Address[]>;
  /** Why an address is refused, as `whyPrivate` tells; null allows all. */
  readonly refuse: ((address: string) => string | null) | null;
}

export interface HttpRequest {
  readonly method: string;
  readonly url: string;
  /** What to call the URL in messages, where the URL itself is a secret. */
  readonly name?: string;
  /** Lower-case names. */
  readonly headers: Readonly<Record<string, string>>;
  readonly body: string | null;
  readonly maxBytes: number;
  readonly timeoutMs: number;
}

export type HttpAnswer =
  | { readonly kind: 'answered'; readonly status: number; readonly body: Buffer }
  | typeof CANCELLED
  | Failed;

const MAX_REDIRECTS = 10;
const SHOWN_CHARACTERS = 200;
/** What setTimeout can hold; beyond it, it would fire at once. */
const LONGEST_TIMER_MS = 2 ** 31 - 1;

export async function resolveHost(host: string): Promise<readonly Address[]> {
  const found = await lookUp(host, { all: true });
  return found.map(({ address, family }) => ({ address, family: family === 6 ? 6 : 4 }));
}

export async function sendHttp(
  request: HttpRequest,
  access: HttpAccess,
  signal: AbortSignal,
): Promise<HttpAnswer> {
  const stop = new AbortController();
  const cancel = () => stop.abort();
  const timer = setTimeout(cancel, Math.min(request.timeoutMs, LONGEST_TIMER_MS));
  signal.addEventListener('abort', cancel);
  try {
    if (signal.aborted) return CANCELLED;
    return await follow(request, access, stop.signal);
  } catch (error) {
    if (signal.aborted) return CANCELLED;
    if (stop.signal.aborted)
      return timedOut(`${nameOf(request)} did not answer within ${formatDuration(request.timeoutMs)}`);
    return whyUnsent(request, error);
  } finally {
    clearTimeout(timer);
    signal.removeEventListener('abort', cancel);
  }
}

async function follow(first: HttpRequest, access: HttpAccess, signal: AbortSignal): Promise<HttpAnswer> {
  let request = first;
  for (let hop = 0; hop <= MAX_REDIRECTS; hop++) {
    const url = parseUrl(request);
    if (!(url instanceof URL)) return url;
    const addresses = await checkedAddresses(url, access, signal);
    if (!Array.isArray(addresses)) return addresses as Failed;
    const response = await exchange(request, url, addresses, signal);
    if (!isRedirect(response)) return await readAnswer(request, response);
    response.destroy();
    const next = redirected(request, url, response);
    if ('kind' in next) return next;
    request = next;
  }
  return failed(`${nameOf(first)} redirects more than ${MAX_REDIRECTS} times`);
}

function parseUrl(request: HttpRequest): URL | Failed {
  const url = URL.canParse(request.url) ? new URL(request.url) : null;
  if (url === null || !/^https?:$/.test(url.protocol))
    return failed(`${nameOf(request)} is not an http or https URL`);
  return url;
}

async function checkedAddresses(
  url: URL,
  { resolve, refuse }: HttpAccess,
  signal: AbortSignal,
): Promise<Address[] | Failed> {
  const host = url.hostname.replace(/^\[|\]$/g, '');
  const family = isIP(host);
  const addresses: readonly Address[] =
    family === 0 ? await unlessAborted(resolve(host), signal) : [{ address: host, family: family as 4 | 6 }];
  if (addresses.length === 0) return failedForNow(`the host '${shown(host)}' has no address`);
  for (const { address } of addresses) {
    const reason = refuse?.(address) ?? null;
    if (reason !== null)
      return failed(
        `the host '${shown(host)}' is refused: ${address} is ${reason}, and this runner denies private addresses`,
      );
  }
  return [...addresses];
}

function unlessAborted<T>(promise: Promise<T>, signal: AbortSignal): Promise<T> {
  return new Promise((resolve, reject) => {
    signal.addEventListener('abort', () => reject(new Error('aborted')), { once: true });
    promise.then(resolve, reject);
  });
}

function exchange(
  request: HttpRequest,
  url: URL,
  addresses: readonly Address[],
  signal: AbortSignal,
): Promise<IncomingMessage> {
  const send = url.protocol === 'https:' ? requestHttps : requestHttp;
  const length = request.body === null ? {} : { 'content-length': String(Buffer.byteLength(request.body)) };
  const headers = { 'accept-encoding': 'identity', 'user-agent': 'sluice', ...request.headers, ...length };
  return new Promise((resolve, reject) => {
    // Not the global agent: it keeps connections, and one of them may have been made without a check.
    const sending = send(url, {
      method: request.method,
      headers,
      agent: false,
      lookup: only(addresses),
      signal,
    });
    sending.on('response', resolve);
    sending.on('error', reject);
    sending.end(request.body ?? undefined);
  });
}

function only(addresses: readonly Address[]): LookupFunction {
  return (_host, options, callback) => {
    if (options.all) callback(null, [...addresses]);
    else callback(null, addresses[0]!.address, addresses[0]!.family);
  };
}

function isRedirect({ statusCode = 0, headers }: IncomingMessage): boolean {
  return [301, 302, 303, 307, 308].includes(statusCode) && headers.location !== undefined;
}

/** As browsers do it; a host that is sent to by another one gets none of the file's own headers. */
function redirected(request: HttpRequest, from: URL, response: IncomingMessage): HttpRequest | Failed {
  const location = response.headers.location!;
  const to = URL.canParse(location, from.href) ? new URL(location, from.href) : null;
  if (to === null) return failed(`${nameOf(request)} redirects to something that is not a URL`);
  if (from.protocol === 'https:' && to.protocol !== 'https:')
    return failed(
      `${nameOf(request)} redirects from https to ${to.protocol.replace(':', '')}, which is refused`,
    );
  const { statusCode } = response;
  const isPost = request.method === 'POST' && (statusCode === 301 || statusCode === 302);
  const becomesGet = request.method !== 'HEAD' && (statusCode === 303 || isPost);
  const kept = Object.entries(request.headers).filter(([name]) => {
    if (becomesGet && name.startsWith('content-')) return false;
    return to.origin === from.origin || HARMLESS.includes(name);
  });
  return {
    ...request,
    url: to.href,
    headers: Object.fromEntries(kept),
    ...(becomesGet ? { method: 'GET', body: null } : {}),
  };
}

const HARMLESS = ['accept', 'accept-language', 'content-type', 'user-agent'];

async function readAnswer(request: HttpRequest, response: IncomingMessage): Promise<HttpAnswer> {
  const status = response.statusCode ?? 0;
  if (status < 200 || status > 299) return await whyRefused(request, response, status);
  const encoding = response.headers['content-encoding'] ?? 'identity';
  if (encoding !== 'identity') {
    response.destroy();
    return failed(
      `${nameOf(request)} answered in the encoding '${shown(encoding)}', which was not asked for`,
    );
  }
  const { body, isWhole } = await readUpTo(response, request.maxBytes);
  if (isWhole) return { kind: 'answered', status, body };
  return failed(`the answer of ${nameOf(request)} is larger than ${request.maxBytes} bytes`);
}

/** Counts while reading: what a server says about its length is its own affair. */
async function readUpTo(response: IncomingMessage, maxBytes: number) {
  const chunks: Buffer[] = [];
  let size = 0;
  for await (const chunk of response as AsyncIterable<Buffer>) {
    size += chunk.length;
    chunks.push(chunk);
    // Leaving the loop destroys the response, and with it the connection.
    if (size > maxBytes) return { body: Buffer.concat(chunks).subarray(0, maxBytes), isWhole: false };
  }
  return { body: Buffer.concat(chunks), isWhole: true };
}

async function whyRefused(request: HttpRequest, response: IncomingMessage, status: number): Promise<Failed> {
  const { body } = await readUpTo(response, SHOWN_CHARACTERS * 4);
  const said = Array.from(body.toString('utf8').trim()).slice(0, SHOWN_CHARACTERS).join('');
  const error = `${nameOf(request)} answered ${status} ${shown(response.statusMessage ?? '')}`.trimEnd();
  const isTransient = status >= 500 || [408, 425, 429].includes(status);
  return (isTransient ? failedForNow : failed)(said === '' ? error : `${error}: ${shown(said)}`);
}

/** Without the query and what stands before an @, which may be secrets. */
function nameOf({ url, name }: HttpRequest): string {
  if (name !== undefined) return name;
  if (!URL.canParse(url)) return `'${shown(url)}'`;
  const { origin, pathname } = new URL(url);
  return `${origin}${pathname}`;
}

function whyUnsent(request: HttpRequest, error: unknown): Failed {
  if (!(error instanceof Error)) throw error;
  const code = 'code' in error ? String(error.code) : '';
  const message = `${nameOf(request)} could not be asked: ${shown(error.message || code)}`;
  // A header that cannot be sent, a certificate that does not fit: waiting helps neither.
  if (/^ERR_/.test(code) || /CERT|SIGNATURE|ISSUER/.test(code)) return failed(message);
  if (code === '') throw error;
  return failedForNow(message);
}
