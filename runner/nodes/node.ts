// The words of node types: what a node is given, what it may answer, and the row it has in the table.

import * as z from 'zod';
import { shown, suggest } from '../../schema/diagnostic.ts';
import type { Scope } from '../../schema/template/evaluate.ts';
import type { Node } from '../../schema/workflow.ts';
import type { Outcome } from '../execute.ts';
import type { Command } from '../launch-script.ts';
import type { Fill } from './fill.ts';
import type { Limits, NodeResult } from './result.ts';
import type { HttpAccess } from './send-http.ts';

export interface NodeContext {
  /** Paths in it are absolute or relative to `root`. Contents of stages are read from there when asked for. */
  readonly scope: Scope;
  /** Absolute; what paths in a node's data are relative to, and where commands run. */
  readonly root: string;
  /** Absolute; the prepared place of the stage's out. The caller renames it. */
  readonly out: string;
  readonly signal: AbortSignal;
  /** 0 is no limit of the stage's own. */
  readonly timeoutMs: number;
  /** Runs a command in `root` under the supervisor, with the stage's environment and the given one. */
  readonly execute: (request: NodeCommand) => Promise<Executed>;
  /** What an agent node without a command of its own runs: shell code, or a program and its arguments. */
  readonly agentCommand: string | readonly string[] | null;
  /** The value of a secret or variable that this stage may have. */
  readonly secret: (name: string) => string | undefined;
  readonly http: HttpAccess;
  readonly limits: Limits;
}

export interface NodeCommand {
  readonly command: Command;
  readonly env: Readonly<Record<string, string>>;
  readonly stdin?: string | Uint8Array;
}

export interface Executed {
  readonly outcome: Outcome;
  /** Where its `.stdout` and `.stderr` are. */
  readonly workDir: string;
}

/** What a node sees: the context, and what is shared by the nodes of one attempt. */
export interface NodeWork extends NodeContext {
  readonly fill: Fill;
  /** Runs what stands under `then`. */
  readonly whenTrue: () => Promise<NodeResult>;
}

export interface NodeType {
  /** Part of the code hash: raised when the same data would give another out. */
  readonly version: number;
  /** What is wrong with the data, each with the next step. */
  readonly problems: (data: Node['data']) => readonly string[];
  readonly run: (data: Node['data'], work: NodeWork) => Promise<NodeResult>;
}

interface NodeDefinition<S extends z.ZodType> {
  readonly version: number;
  readonly data: S;
  readonly run: (data: z.output<S>, work: NodeWork) => Promise<NodeResult>;
}

export function defineNode<S extends z.ZodType>({ version, data: shape, run }: NodeDefinition<S>): NodeType {
  return {
    version,
    problems: (data) =>
      shape.safeParse(data).error?.issues.flatMap((issue) => describe(issue, shape, data)) ?? [],
    run: (data, work) => run(shape.parse(data), work),
  };
}

type Issue = z.core.$ZodIssue;

function describe(issue: Issue, shape: z.ZodType, data: Node['data']): readonly string[] {
  const place = issue.path.map((key) => shown(String(key))).join('.');
  if (issue.code === 'unrecognized_keys')
    return issue.keys.map((key) => unknownKey(key, place, place === '' ? keysOf(shape) : []));
  if (place !== '' && issue.code === 'invalid_type' && !(issue.path[0]! in data))
    return [`'${place}' is missing`];
  return [place === '' ? issue.message : `${place}: ${issue.message}`];
}

function unknownKey(key: string, place: string, known: readonly string[]): string {
  const at = place === '' ? '' : ` in ${place}`;
  return `unknown key '${shown(key)}'${at}; ${known.length === 0 ? 'remove it' : suggest(key, known)}`;
}

function keysOf(shape: z.ZodType): readonly string[] {
  return shape instanceof z.ZodObject ? Object.keys(shape.shape) : [];
}
