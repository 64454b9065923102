// `discord_send`: one shape of `notify`, a message to a Discord webhook.

import * as z from 'zod';
import { duration } from '../../schema/front/shapes.ts';
import { defineNode } from './node.ts';
import { postReceipt, webhook } from './notify.ts';

const DEFAULT_VARIABLE = 'DISCORD_WEBHOOK_URL';

const data = z
  .strictObject({
    message: z.string().min(1),
    /** Chooses the webhook: `news` is DISCORD_WEBHOOK_URL_NEWS if that is set, else DISCORD_WEBHOOK_URL. */
    channel: z.string().min(1).optional(),
    webhook_url: z.string().min(1).optional(),
    webhook_env: z.string().min(1).optional(),
    username: z.string().min(1).optional(),
    timeout: duration.optional(),
  })
  .superRefine(({ webhook_url, webhook_env }, context) => {
    if (webhook_url === undefined || webhook_env === undefined) return;
    context.addIssue({ code: 'custom', path: [], message: "write either 'webhook_url' or 'webhook_env'" });
  });

export const discordSend = defineNode({
  version: 1,
  data,
  run: async ({ message, channel, webhook_url, webhook_env, username, timeout }, work) => {
    const to = webhook(webhook_url, variablesOf(webhook_env ?? DEFAULT_VARIABLE, channel), work);
    if (!to.ok) return to.failed;
    const content = work.fill.text(message);
    if (!content.ok) return content.failed;
    const payload = {
      content: content.value,
      ...(username === undefined ? {} : { username }),
      // A headline that says @everyone must not call everyone.
      allowed_mentions: { parse: [] },
    };
    const post = { to: to.value, body: JSON.stringify(payload), timeout };
    return await postReceipt(post, { channel: channel ?? null, message: content.value }, work);
  },
});

function variablesOf(variable: string, channel: string | undefined): readonly string[] {
  if (channel === undefined) return [variable];
  return [`${variable}_${channel.toUpperCase().replace(/[^A-Z0-9]/g, '_')}`, variable];
}
