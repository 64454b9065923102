// Runs a node on real files, with real commands and real servers; only names of hosts are made up.

import { mkdirSync, readdirSync, readFileSync, writeFileSync } from 'node:fs';
import { createServer, type IncomingMessage, type RequestListener } from 'node:http';
import type { AddressInfo } from 'node:net';
import { dirname, join } from 'node:path';
import { text } from 'node:stream/consumers';
import { onTestFinished } from 'vitest';
import type { NodeContext } from '../../../runner/nodes/node.ts';
import { DEFAULT_LIMITS, type NodeResult } from '../../../runner/nodes/result.ts';
import { runNode } from '../../../runner/nodes/run-node.ts';
import type { Scope } from '../../../schema/template/evaluate.ts';
import type { Json } from '../../../schema/words.ts';
import type { Node } from '../../../schema/workflow.ts';
import { commandRig } from '../command-rig.ts';

export interface NodeRig {
  readonly root: string;
  readonly out: string;
  write(name: string, content: string): void;
  run(typeId: string, data: Node['data'], options?: RunOptions): Promise<NodeResult>;
  /** What the node wrote, or null if it wrote nothing. */
  made(): string | null;
  json(): Json;
}

export interface RunOptions {
  readonly scope?: Partial<Scope>;
  readonly whenTrue?: Node;
  readonly secrets?: Readonly<Record<string, string>>;
  readonly context?: Partial<NodeContext>;
}

export const NO_VALUES: Scope = { params: {}, entity: {}, deps: [], outs: [], stages: {}, names: {} };

export function nodeRig(files: Readonly<Record<string, string>> = {}): NodeRig {
  const commands = commandRig();
  const root = join(commands.folder, 'root');
  const out = join(root, '.sluice-t1.out');
  const write = (name: string, content: string) => {
    mkdirSync(dirname(join(root, name)), { recursive: true });
    writeFileSync(join(root, name), content);
  };
  mkdirSync(root, { recursive: true });
  for (const [name, content] of Object.entries(files)) write(name, content);
  const made = () => {
    try {
      return readFileSync(out, 'utf8');
    } catch {
      return null;
    }
  };
  return {
    root,
    out,
    write,
    made,
    json: () => JSON.parse(made()!) as Json,
    run: (typeId, data, { scope = {}, whenTrue, secrets = {}, context = {} } = {}) =>
      runNode({ typeId, data }, whenTrue ?? null, {
        scope: { ...NO_VALUES, ...scope },
        root,
        out,
        signal: new AbortController().signal,
        timeoutMs: 0,
        execute: async ({ command, env, stdin }) => ({
          outcome: await commands.run(command, {
            cwd: root,
            env: { PATH: process.env.PATH!, ...env },
            ...(stdin === undefined ? {} : { stdin }),
            ...(context.signal === undefined ? {} : { signal: context.signal }),
            timeoutMs: context.timeoutMs ?? 0,
          }),
          workDir: commands.workDir,
        }),
        agentCommand: null,
        secret: (name) => (Object.hasOwn(secrets, name) ? secrets[name] : undefined),
        http: { resolve: resolveHere, refuse: null },
        limits: DEFAULT_LIMITS,
        ...context,
      }),
  };
}

/** Every host is this machine. */
export async function resolveHere() {
  return [{ address: '127.0.0.1', family: 4 as const }];
}

export interface Served {
  readonly origin: string;
  readonly port: number;
  readonly requests: readonly ServedRequest[];
}

export interface ServedRequest {
  readonly method: string;
  readonly url: string;
  readonly headers: IncomingMessage['headers'];
  readonly body: string;
}

/** A server on a port of its own that keeps what it was asked. */
export async function serve(answer: RequestListener, address = '127.0.0.1'): Promise<Served> {
  const requests: ServedRequest[] = [];
  const server = createServer(async (request, response) => {
    const body = await text(request);
    requests.push({ method: request.method!, url: request.url!, headers: request.headers, body });
    answer(request, response);
  });
  await new Promise<void>((resolve) => server.listen(0, address, resolve));
  onTestFinished(() => {
    server.closeAllConnections();
    server.close();
  });
  const { port } = server.address() as AddressInfo;
  return { origin: `http://${address}:${port}`, port, requests };
}

export function namesIn(folder: string): readonly string[] {
  return readdirSync(folder).sort();
}
