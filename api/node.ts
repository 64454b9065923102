// The control plane as a Node server.

import { once } from 'node:events';
import type { Server } from 'node:http';
import type { AddressInfo } from 'node:net';
import { createAdaptorServer } from '@hono/node-server';

export interface Listening {
  readonly url: string;
  /** Lets requests that are under way end, for a moment; then closes. */
  stop(): Promise<void>;
}

/** What is served: the app, or something around it. */
export interface Answering {
  fetch(request: Request, env: object): Response | Promise<Response>;
}

export interface ListenOptions {
  readonly port: number;
  readonly hostname: string;
}

export async function listen(app: Answering, { port, hostname }: ListenOptions): Promise<Listening> {
  // Nothing is trusted that comes over the network: the bindings say nothing else, whatever Node's own would be.
  const server = createAdaptorServer({
    fetch: (request) => app.fetch(request, { keepsLength: true }),
  }) as Server;
  server.listen(port, hostname);
  await Promise.race([
    once(server, 'listening'),
    once(server, 'error').then(([error]) => Promise.reject(error)),
  ]);
  const { address, family, port: bound } = server.address() as AddressInfo;
  return {
    url: `http://${family === 'IPv6' ? `[${address}]` : address}:${bound}`,
    stop: () => stop(server),
  };
}

/** Long polls and event streams would otherwise hold the end up. */
const GRACE_MS = 1_000;

async function stop(server: Server): Promise<void> {
  const closed = once(server, 'close');
  server.close();
  server.closeIdleConnections();
  const timer = setTimeout(() => server.closeAllConnections(), GRACE_MS);
  await closed;
  clearTimeout(timer);
}
