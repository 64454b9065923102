// The control plane as watchers, runners and people use it, whichever of its shapes answers: the verbs of a test.
//
// The rig plays the machines: it remembers what it put at each path, hashes it, and completes claims with what a
// runner that read those very bytes would report.

import { type Row, sql } from '../../api/store/database.ts';
import { loadBlake3 } from '../../host/blake3.ts';
import { asBlake3 } from '../../schema/blake3.ts';
import type { StateAnswer, StatusAnswer, WhyAnswer } from '../../schema/read-answers.ts';
import type { Claimed, ItemResult } from '../../schema/wire.ts';
import type { Shape } from './control-plane-shapes.ts';

/** A file's text, gone, or a directory of so many files. */
export type Content =
  | string
  | null
  | { readonly text: string; readonly size?: number; readonly files?: number };
export type Files = Readonly<Record<string, Content>>;

export interface Asking {
  readonly runner?: string;
  readonly targets?: readonly string[];
  readonly limit?: number;
  readonly free?: Readonly<Record<string, unknown>>;
  readonly [more: string]: unknown;
}

export interface Making {
  readonly runner?: string;
  /** Of every out; by default it follows from what was read. */
  readonly text?: string;
  /** What was read, where it is not what the control plane knows. */
  readonly read?: Files;
  readonly key?: string;
  readonly [more: string]: unknown;
}

export const ROOT = '/p';
const { hash } = loadBlake3();

/** The hash of a text, as if it were a file's content. */
export function h(text: string): string {
  return asBlake3(hash(new TextEncoder().encode(text)));
}

/** `stage@entity` of each, in the order they were handed out. */
export function names(items: readonly { readonly stage: string; readonly entity: string }[]): string[] {
  return items.map(({ stage, entity }) => (entity === '' ? stage : `${stage}@${entity}`));
}

export class ControlPlane {
  /** Set before the first test, by whoever runs the behaviours. */
  shape!: Shape;

  request(method: string, path: string, body?: unknown, headers: Record<string, string> = {}) {
    const isText = typeof body === 'string' || body === undefined;
    const type: Record<string, string> = isText ? {} : { 'Content-Type': 'application/json' };
    const init: RequestInit = { method, headers: { ...type, ...headers } };
    if (body !== undefined) init.body = isText ? (body as string) : JSON.stringify(body);
    return this.shape.fetch(path, init);
  }

  /** What was answered; throws what a person would read if it was refused. */
  async ask<Answer = never>(method: string, path: string, body?: unknown): Promise<Answer> {
    const response = await this.request(method, path, body);
    if (response.ok) return (await response.json()) as Answer;
    throw new Error(`${method} ${path}: ${response.status} ${await response.text()}`);
  }

  get<Answer = never>(path: string): Promise<Answer> {
    return this.ask('GET', path);
  }

  post<Answer = never>(path: string, body: unknown): Promise<Answer> {
    return this.ask('POST', path, body);
  }

  register(name: string, text: string, { root = ROOT, target = 'local' } = {}): Promise<Registered> {
    return this.ask('PUT', registration(name, root, target), text);
  }

  tryRegister(name: string, text: string, { root = ROOT, target = 'local' } = {}): Promise<Response> {
    return this.request('PUT', registration(name, root, target), text);
  }

  /** A watcher of `target` reports these paths, relative ones below the root. */
  see(files: Files, target = 'local'): Promise<{ observed: number; changed: number; discovered: number }> {
    const observations = Object.entries(files).map(([path, content]) => seen(at(path), content));
    return this.post('/api/observations', { target, watcher: `watcher-${target}`, observations });
  }

  async claim(asking: Asking = {}): Promise<Claimed[]> {
    const { items } = await this.post<{ items: Claimed[] }>('/api/work/claim', {
      runner: 'r1',
      targets: ['local'],
      limit: 100,
      free: { cores: 64 },
      ...asking,
    });
    return items;
  }

  async claimOne(asking: Asking = {}): Promise<Claimed> {
    const [item] = await this.claim({ limit: 1, ...asking });
    if (item === undefined) throw new Error('there is nothing to claim');
    return item;
  }

  /** Completes a claim as a runner would that made its outs from what is known to be there. */
  async make(item: Claimed, making: Making = {}): Promise<ItemResult> {
    const answer = await this.post<Results>('/api/work/complete', {
      runner: making.runner ?? 'r1',
      items: [await this.result(item, making)],
    });
    return answer.results[0]!.result;
  }

  async result(item: Claimed, { runner: _, text, read = {}, key, ...more }: Making = {}) {
    const { inputs, outs } = await this.#filesOf(item.token);
    const consumed = new Map(inputs.map(({ path, hash }) => [path as string, hash as string]));
    for (const [path, content] of Object.entries(read)) consumed.set(at(path), h(textOf(content)));
    const deps = [...consumed].map(([path, hash]) => ({ path, hash }));
    const content = text ?? `${item.stage} of ${JSON.stringify(deps)}`;
    return {
      token: item.token,
      cache_key: h(key ?? `${item.definition} ${item.stage} ${JSON.stringify(deps)}`),
      deps,
      consumed: deps,
      outs: outs.map(({ path }) => ({ path: path as string, hash: h(content), size: content.length })),
      content_hash: h(content),
      ...more,
    };
  }

  async fail(item: Claimed, failing: Making & { readonly error?: string } = {}): Promise<Answered> {
    const { runner = 'r1', key, error = 'boom', ...more } = failing;
    const { results } = await this.post<Results>('/api/work/fail', {
      runner,
      items: [
        {
          ...{ token: item.token, outcome: { kind: 'exit', code: 3 }, error, log_tail: `… ${error}` },
          cache_key: h(key ?? `${item.stage} ${item.entity}`),
          ...more,
        },
      ],
    });
    return results[0]!;
  }

  async release(item: Claimed, runner = 'r1'): Promise<ItemResult> {
    const answer = await this.post<Results>('/api/work/release', { runner, tokens: [item.token] });
    return answer.results[0]!.result;
  }

  heartbeat(items: readonly Claimed[], runner = 'r1'): Promise<{ kept: number[]; lost: number[] }> {
    return this.post('/api/work/heartbeat', { runner, tokens: items.map(({ token }) => token) });
  }

  /** Claims and makes until nothing is left to do; what was made, in order. */
  async settle(asking: Asking = {}): Promise<string[]> {
    const made: string[] = [];
    for (let items = await this.claim(asking); items.length > 0; items = await this.claim(asking)) {
      for (const item of items)
        await this.make(item, { runner: asking.runner ?? 'r1', ...(item.kind === 'clean' ? CLEANED : {}) });
      made.push(...names(items));
    }
    return made;
  }

  states(workflow = 'w'): Promise<StateAnswer[]> {
    return this.get(`/api/workflows/${encodeURIComponent(workflow)}/states?limit=1000`);
  }

  /** The word of every state. */
  async words(workflow = 'w'): Promise<Record<string, string>> {
    const states = await this.states(workflow);
    return Object.fromEntries(states.map((state) => [names([state])[0]!, state.status]));
  }

  status(workflow = 'w'): Promise<StatusAnswer> {
    return this.get(`/api/pipeline/${encodeURIComponent(workflow)}/status`);
  }

  why(stage: string, entity = '', workflow = 'w'): Promise<WhyAnswer> {
    const query = new URLSearchParams({ stage, entity });
    return this.get(`/api/workflows/${encodeURIComponent(workflow)}/why?${query}`);
  }

  /** The sentences of `why`, its own only. */
  async reasons(stage: string, entity = '', workflow = 'w'): Promise<string[]> {
    return (await this.why(stage, entity, workflow)).reasons.map(({ sentence }) => sentence);
  }

  async events(workflow = 'w'): Promise<string[]> {
    const all = await this.get<{ event: string }[]>(`/api/events?limit=1000&workflow=${workflow}`);
    return all.map(({ event }) => event);
  }

  invalidate(what: { readonly stage_id?: string; readonly entity_id?: string } = {}, workflow = 'w') {
    return this.post<{ invalidated: number }>(`/api/pipeline/${workflow}/invalidate`, what);
  }

  async rows(text: string, ...args: (string | number)[]): Promise<readonly Row[]> {
    const [found] = await this.shape.db.batch([sql(text, ...args)], 'read');
    return found!.rows;
  }

  passTime(ms: number): Promise<void> {
    return this.shape.passTime(ms);
  }

  async #filesOf(token: number) {
    const of = '(SELECT state_id FROM attempts WHERE token = ?1)';
    const [inputs, outs] = await this.shape.db.batch(
      [
        sql(
          `SELECT p.path, 'blake3:' || lower(hex(p.hash)) AS hash FROM inputs i JOIN paths p ON p.id = i.path_id
           WHERE i.state_id = ${of} AND p.hash IS NOT NULL ORDER BY p.path`,
          token,
        ),
        sql(`SELECT path FROM paths WHERE maker_id = ${of} ORDER BY path`, token),
      ],
      'read',
    );
    return { inputs: inputs!.rows, outs: outs!.rows };
  }
}

export const CLEANED = { outcome: 'cleaned', cache_key: undefined, outs: [], consumed: [], deps: [] };

interface Registered {
  readonly name: string;
  readonly definition: string;
  readonly changes: {
    readonly added: readonly string[];
    readonly removed: readonly string[];
    readonly rewired: readonly string[];
    readonly changed: readonly { readonly stage: string; readonly reasons: readonly unknown[] }[];
  };
  readonly warnings: readonly string[];
}

interface Answered {
  readonly token: number;
  readonly result: ItemResult;
  readonly retry_at?: number | null;
}

interface Results {
  readonly results: readonly Answered[];
}

function registration(name: string, root: string, target: string): string {
  return `/api/workflows/${encodeURIComponent(name)}?${new URLSearchParams({ root, target })}`;
}

export function at(path: string): string {
  return path.startsWith('/') ? path : `${ROOT}/${path}`;
}

function seen(path: string, content: Content) {
  if (content === null) return { path, gone: true };
  const { text, size = text.length, files } = typeof content === 'string' ? { text: content } : content;
  return { path, hash: h(text), size, ...(files === undefined ? {} : { files }) };
}

function textOf(content: Content): string {
  return typeof content === 'string' ? content : (content?.text ?? '');
}

/** A playbook as a file would have it; stages are written with `step`. */
export function playbook(stages: Readonly<Record<string, unknown>>, more: object = {}): string {
  return JSON.stringify({ version: '1.0', ...more, stages });
}

type Paths = string | readonly unknown[];

export function step(deps: Paths, outs: Paths, more: object = {}): object {
  const list = (paths: Paths) => (typeof paths === 'string' ? [paths] : paths);
  return { cmd: 'make', deps: list(deps), outs: list(outs), ...more };
}

/** `raw/{x}.txt → clean/{x}.txt → counts/{x}.txt` */
export const CHAIN = playbook({
  clean: step('raw/{x}.txt', 'clean/{x}.txt'),
  count: step('clean/{x}.txt', 'counts/{x}.txt'),
});
