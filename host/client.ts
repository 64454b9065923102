// The control plane as watchers, runners and commands see it: typed by the routes themselves, over any fetch.

import { hc } from 'hono/client';
import type { AppType } from '../api/app.ts';

export type Client = ReturnType<typeof createClient>;

export interface ClientOptions {
  /** Where the control plane is; for one in this process any URL will do. */
  readonly url: string;
  readonly token?: string | undefined;
  readonly fetch?: typeof globalThis.fetch;
}

export function createClient({ url, token, fetch = globalThis.fetch }: ClientOptions) {
  return hc<AppType>(url, {
    fetch,
    headers: token === undefined ? {} : { Authorization: `Bearer ${token}` },
  });
}

/** The control plane said no: its own words, for a person. */
export class Refused extends Error {
  override readonly name = 'Refused';
  readonly status: number;
  readonly code: string;
  readonly hint: string;
  readonly body: Readonly<Record<string, unknown>>;

  constructor(status: number, body: Readonly<Record<string, unknown>>) {
    super(String(body.detail ?? `the control plane answered ${status}`));
    this.status = status;
    this.code = String(body.code ?? 'refused');
    this.hint = String(body.hint ?? 'look at the log of the control plane');
    this.body = body;
  }
}

interface Answer<Body> {
  readonly ok: boolean;
  readonly status: number;
  json(): Promise<Body>;
}

/** What was answered, or `Refused`. */
export async function answerOf<Body>(response: Answer<Body> | Promise<Answer<Body>>): Promise<Body> {
  const answer = await response;
  if (answer.ok) return answer.json();
  const body = await answer.json().catch(() => ({}));
  throw new Refused(answer.status, body as Record<string, unknown>);
}
