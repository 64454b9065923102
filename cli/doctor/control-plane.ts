// The control plane that was named: whether it answers, is ours, and what the token may do there.

import { shown } from '../../schema/diagnostic.ts';
import { aheadOf } from './clock.ts';
import { type Finding, fail, ok, warn } from './finding.ts';

export interface CheckedControlPlane {
  readonly findings: readonly Finding[];
  /** Its clock minus ours; null if it did not tell. */
  readonly aheadMs: number | null;
}

export interface Asked {
  readonly url: string;
  readonly token: string | undefined;
  readonly version: string;
}

const PATIENCE_MS = 10_000;

export async function checkControlPlane({ url, token, version }: Asked): Promise<CheckedControlPlane> {
  const told = await ask(url, '/healthz', undefined);
  if (told.kind === 'silent') {
    const next = 'check the URL, and that `sluice serve` or `sluice up` runs there';
    return { findings: [fail('api', `no answer from ${shown(url)}: ${told.why}`, next)], aheadMs: null };
  }
  const { aheadMs } = told;
  if (told.body?.status !== 'ok') return { findings: [stranger(url, told)], aheadMs: null };
  const theirs = String(told.body.version);
  const api =
    theirs === version
      ? ok('api', `${shown(url)} is a control plane of sluice ${shown(theirs)}`)
      : warn(
          'api',
          `${shown(url)} is sluice ${shown(theirs)}, this is ${version}`,
          'bring both to one version',
        );
  return { findings: [api, await checkToken(url, token)], aheadMs };
}

async function checkToken(url: string, token: string | undefined): Promise<Finding> {
  if (token === undefined || token === '') {
    const next =
      'make one there with `sluice token create NAME --scope …`, and name its file with --token-file';
    return fail('token', 'no token is given, and nothing can be asked without', next);
  }
  const told = await ask(url, '/api/me', token);
  if (told.kind === 'silent') return fail('token', `no answer from ${shown(url)}: ${told.why}`, 'try again');
  const { status, body } = told;
  if (status !== 200) {
    const next = String(body?.hint ?? 'make another with `sluice token create`');
    return fail('token', String(body?.detail ?? `refused with HTTP ${status}`), next);
  }
  const { name, scopes, workflow, target } = body as unknown as Me;
  const limits = [
    ...(workflow === null ? [] : [`workflow ${shown(workflow)}`]),
    ...(target === null ? [] : [`target ${shown(target)}`]),
  ];
  const only = limits.length === 0 ? '' : `, only ${limits.join(', ')}`;
  return ok('token', `'${shown(name)}' may ${scopes.join(', ')}${only}`);
}

interface Me {
  readonly name: string;
  readonly scopes: readonly string[];
  readonly workflow: string | null;
  readonly target: string | null;
}

type Told =
  | { readonly kind: 'silent'; readonly why: string }
  | {
      readonly kind: 'answer';
      readonly status: number;
      readonly type: string;
      readonly body: Readonly<Record<string, unknown>> | null;
      readonly aheadMs: number | null;
    };

async function ask(url: string, path: string, token: string | undefined): Promise<Told> {
  const headers = new Headers(token === undefined ? {} : { Authorization: `Bearer ${token}` });
  const askedMs = Date.now();
  try {
    const place = `${url}${path}`;
    const answer = await fetch(place, {
      headers,
      redirect: 'manual',
      signal: AbortSignal.timeout(PATIENCE_MS),
    });
    const answeredMs = Date.now();
    const body = (await answer.json().catch(() => null)) as Record<string, unknown> | null;
    const type = answer.headers.get('Content-Type') ?? 'no content type';
    const aheadMs = aheadOf(answer.headers.get('Date'), { askedMs, answeredMs });
    return { kind: 'answer', status: answer.status, type, body, aheadMs };
  } catch (error) {
    return { kind: 'silent', why: whyOf(error) };
  }
}

function whyOf(error: unknown): string {
  const { cause, message } = error as Error;
  if (cause instanceof Error) return ((cause as NodeJS.ErrnoException).code ?? cause.message) as string;
  return message;
}

function stranger(url: string, { status, type }: Extract<Told, { kind: 'answer' }>): Finding {
  return fail(
    'api',
    `what answers at ${shown(url)} is not a control plane of sluice (HTTP ${status}, ${shown(type)})`,
    'check the URL: it is what `sluice serve` says it is listening on, without a path',
  );
}
