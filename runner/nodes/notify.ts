// `notify`: posts a message to a webhook. The out is a receipt, so a state that was notified is not notified again.
//
// A crash between the answer and the record posts twice: a webhook has no way to ask whether it was heard.

import * as z from 'zod';
import { shown } from '../../schema/diagnostic.ts';
import { duration, json } from '../../schema/front/shapes.ts';
import type { Json } from '../../schema/words.ts';
import { fillHeaders, fillJson, headers, httpTimeout } from './http.ts';
import { defineNode, type NodeWork } from './node.ts';
import type { NodeResult } from './result.ts';
import { noPart, type Part, part } from './result.ts';
import { sendHttp } from './send-http.ts';
import { writeJson } from './write-out.ts';

const data = z
  .strictObject({
    url: z.string().min(1).optional(),
    /** The secret or variable that holds the URL. */
    url_env: z.string().min(1).optional(),
    /** Sent as {"text": …}, which most chat programs take. */
    message: z.string().optional(),
    json_body: json.optional(),
    headers: headers.optional(),
    timeout: duration.optional(),
  })
  .superRefine(({ url, url_env, message, json_body }, context) => {
    const need = (text: string) => context.addIssue({ code: 'custom', path: [], message: text });
    if ((url === undefined) === (url_env === undefined)) need("write either 'url' or 'url_env'");
    if ((message === undefined) === (json_body === undefined)) need("write either 'message' or 'json_body'");
  });

export const notify = defineNode({
  version: 1,
  data,
  run: async (written, work) => {
    const to = webhook(written.url, written.url_env === undefined ? [] : [written.url_env], work);
    if (!to.ok) return to.failed;
    const given = fillHeaders(written.headers ?? {}, work);
    if (!given.ok) return given.failed;
    const body = fillJson(written.json_body ?? { text: written.message! }, work.fill);
    if (!body.ok) return body.failed;
    const post = { to: to.value, headers: given.value, body: body.value, timeout: written.timeout };
    return await postReceipt(post, { sent: JSON.parse(body.value) as Json }, work);
  },
});

export interface Webhook {
  readonly url: string;
  /** What to call it, since its URL is a secret. */
  readonly name: string;
}

/** The URL of the file, or that of the first variable that is set. */
export function webhook(
  url: string | undefined,
  variables: readonly string[],
  work: NodeWork,
): Part<Webhook> {
  if (url !== undefined) {
    const filled = work.fill.url(url);
    if (!filled.ok) return filled;
    // The path of a webhook is as good as a password.
    const at = URL.canParse(filled.value) ? new URL(filled.value).origin : shown(filled.value);
    return part({ url: filled.value, name: `the webhook at ${at}` });
  }
  for (const name of variables) {
    const secret = work.secret(name);
    if (secret !== undefined && secret !== '') return part({ url: secret, name: `the webhook in ${name}` });
  }
  return noPart(`no webhook to post to: put its URL into the environment as ${variables.join(' or ')}`);
}

export interface Post {
  readonly to: Webhook;
  readonly headers?: Readonly<Record<string, string>>;
  /** JSON. */
  readonly body: string;
  readonly timeout: string | number | undefined;
}

export async function postReceipt(
  { to, headers = {}, body, timeout }: Post,
  receipt: Readonly<Record<string, Json>>,
  work: NodeWork,
): Promise<NodeResult> {
  const answer = await sendHttp(
    {
      ...to,
      method: 'POST',
      headers: { 'content-type': 'application/json', ...headers },
      body,
      maxBytes: work.limits.answerBytes,
      timeoutMs: httpTimeout(timeout, work.timeoutMs),
    },
    work.http,
    work.signal,
  );
  return answer.kind === 'answered' ? writeJson(work.out, { ...receipt, status: answer.status }) : answer;
}
