// Events as they happen, as a stream that is pulled: whoever reads slowly is looked for less often, and nothing piles
// up here. It ends by itself after a while with the cursor to go on from, as Workers demand (SEMANTICS 25).

import type { EventAnswer } from '../../schema/read-answers.ts';
import { type Bell, MOST_LOOKS } from '../bell.ts';
import { listEvents, newestEvent } from '../store/list-events.ts';
import type { Store } from '../store/store.ts';

/** Idle, a stream lasts half a minute; a flood of rings does not use up its looks at once. */
const LOOK_EVERY_MS = 1_500;
const LOOK_AT_MOST_EVERY_MS = 100;
const PAGE = 200;

export interface Streaming {
  readonly store: Store;
  readonly bell: Bell;
  readonly signal: AbortSignal;
}

export interface StreamQuery {
  readonly workflow: string | undefined;
  /** Undefined: only what is to come. */
  readonly after: number | undefined;
}

export async function eventStream(
  { store, bell, signal }: Streaming,
  { workflow, after }: StreamQuery,
): Promise<ReadableStream<Uint8Array>> {
  const left = new AbortController();
  const gone = AbortSignal.any([signal, left.signal]);
  let cursor = after ?? (await newestEvent(store));
  let looks = 0;
  let wasFull = true;

  async function pull(controller: ReadableStreamDefaultController<Uint8Array>): Promise<void> {
    if (!wasFull) await pause(bell, gone);
    if (gone.aborted) return controller.close();
    const events = await listEvents(store, { after: cursor, limit: PAGE, workflow });
    looks += 1;
    wasFull = events.length === PAGE;
    cursor = events.at(-1)?.id ?? cursor;
    const isLast = looks >= MOST_LOOKS;
    const text = [...events.map(asMessage), ...(isLast ? [closing(cursor)] : [])].join('');
    controller.enqueue(ENCODER.encode(text === '' ? ': nothing new\n\n' : text));
    if (isLast) controller.close();
  }

  // Nothing is fetched before it is asked for.
  return new ReadableStream({ pull, cancel: () => left.abort() }, { highWaterMark: 0 });
}

const ENCODER = new TextEncoder();

async function pause(bell: Bell, gone: AbortSignal): Promise<void> {
  const began = performance.now();
  await bell.wait(LOOK_EVERY_MS, gone);
  const early = LOOK_AT_MOST_EVERY_MS - (performance.now() - began);
  if (early > 0 && !gone.aborted) await new Promise((resolve) => setTimeout(resolve, early));
}

/** JSON has no raw line breaks, so one data line holds it. */
function asMessage(event: EventAnswer): string {
  return `id: ${event.id}\nevent: ${event.event}\ndata: ${JSON.stringify(event)}\n\n`;
}

function closing(cursor: number): string {
  return `retry: 1000\nid: ${cursor}\nevent: cursor\ndata: ${JSON.stringify({ after: cursor })}\n\n`;
}
