// Tells the control plane what came of claims, in batches that fit into a request, and hears what became of each.

import { answerOf, type Client, Refused } from '../host/client.ts';
import { MAX_ITEMS } from '../schema/wire.ts';
import type { Performed } from './performed.ts';

export interface Answer {
  readonly result: string;
  readonly retryAt: number | null;
}

interface Addressee {
  readonly client: Client;
  readonly runner: string;
}

type Answers = Map<number, Answer>;

export async function postPerformed(done: readonly Performed[], to: Addressee): Promise<Answers> {
  const results = done.flatMap(({ post }) => (post.kind === 'release' ? [] : [post]));
  const answers = await postResults(results, to);
  const released = done.flatMap(({ post, item }) => (post.kind === 'release' ? [item.token] : []));
  for (const tokens of batches(released)) await release(tokens, to, answers);
  return answers;
}

type Result = Exclude<Performed['post'], { kind: 'release' }>;

export async function postResults(
  results: readonly Result[],
  { client, runner }: Addressee,
): Promise<Answers> {
  const { work } = client.api;
  const answers: Answers = new Map();
  const complete = results.flatMap((each) => (each.kind === 'complete' ? [each.item] : []));
  for (const items of batches(complete))
    take(
      await unlessLost(answerOf(work.complete.$post({ json: { runner, items: items as never } }))),
      answers,
    );
  const fail = results.flatMap((each) => (each.kind === 'fail' ? [each.item] : []));
  for (const items of batches(fail))
    take(await unlessLost(answerOf(work.fail.$post({ json: { runner, items } }))), answers);
  return answers;
}

export async function releaseAll(tokens: readonly number[], to: Addressee): Promise<void> {
  for (const batch of batches(tokens)) await release(batch, to, new Map());
}

async function release(tokens: number[], { client, runner }: Addressee, answers: Answers): Promise<void> {
  take(await unlessLost(answerOf(client.api.work.release.$post({ json: { runner, tokens } }))), answers);
}

interface Answered {
  readonly results: readonly { token: number; result: string; retry_at?: number | null | undefined }[];
}

function take({ results }: Answered, answers: Answers): void {
  for (const { token, result, retry_at } of results)
    answers.set(token, { result, retryAt: retry_at ?? null });
}

/** 409 says that all of them were lost: an answer, not a mistake. */
async function unlessLost<Body extends Answered>(answer: Promise<Body>): Promise<Body> {
  try {
    return await answer;
  } catch (error) {
    if (error instanceof Refused && error.code === 'lease-lost') return error.body as unknown as Body;
    throw error;
  }
}

const BODY_BYTES = 800_000;

export function* batches<Item>(items: readonly Item[]): Generator<Item[]> {
  let batch: Item[] = [];
  let bytes = 0;
  for (const item of items) {
    const size = typeof item === 'number' ? 20 : Buffer.byteLength(JSON.stringify(item)) + 1;
    if (batch.length === MAX_ITEMS || (batch.length > 0 && bytes + size > BODY_BYTES)) {
      yield batch;
      [batch, bytes] = [[], 0];
    }
    batch.push(item);
    bytes += size;
  }
  if (batch.length > 0) yield batch;
}
