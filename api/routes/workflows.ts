// Workflows as a whole: register, list, pause, resume, remove; and their definitions, old ones too.

import { type Context, Hono } from 'hono';
import * as z from 'zod';
import type { Diagnostic } from '../../schema/diagnostic.ts';
import { loadWorkflow } from '../../schema/load-workflow.ts';
import { lineStarts, placeOf } from '../../schema/source-place.ts';
import { absolutePath, blake3 } from '../../schema/wire.ts';
import { type Json, LOCAL } from '../../schema/words.ts';
import { readText } from '../http/body.ts';
import { Problem } from '../http/problem.ts';
import { allow, limitsOf, mayTouch } from '../http/route.ts';
import { query } from '../http/validate.ts';
import { findWorkflow, unknown } from '../known-workflow.ts';
import type { AppEnv } from '../parts.ts';
import { deleteWorkflow } from '../store/delete-workflow.ts';
import { pauseWorkflow } from '../store/pause-workflow.ts';
import { listDefinitions, readDefinition } from '../store/read-definition.ts';
import { registerWorkflow } from '../store/register-workflow.ts';
import type { KnownWorkflow } from '../store/registered.ts';

const WORKFLOW = '/api/workflows/:name{[^]+}';

const Summary = z.object({
  name: z.string(),
  definition: blake3,
  root: z.string(),
  target: z.string(),
  paused: z.boolean(),
  stages: z.array(z.string()),
});

const Registered = Summary.extend({
  changes: z.object({
    added: z.array(z.string()),
    removed: z.array(z.string()),
    rewired: z.array(z.string()),
    changed: z.array(z.object({ stage: z.string(), reasons: z.array(z.unknown()) })),
  }),
  warnings: z.array(z.string()),
});

const Where = z.object({
  /** Where the workflow's relative paths stand. */
  root: absolutePath,
  target: z.string().min(1).max(200).default(LOCAL),
  /** JSON: values that stand in for params of the file. */
  set: z.string().optional(),
});

export const workflowRoutes = new Hono<AppEnv>()
  .get(
    '/api/workflows',
    allow('read', { summary: 'List workflows', responses: { 200: z.array(Summary) }, limits: 'checked' }),
    async (c) => {
      const { workflow } = limitsOf(c);
      const { workflows } = await c.var.store.registered.checked();
      const list = [...workflows.values()].filter(({ name }) => workflow === null || name === workflow);
      return c.json(list.map(summary));
    },
  )
  .get(
    '/api/definitions/:hash',
    allow('read', { summary: 'One definition, present or past, by its hash', limits: 'checked' }),
    async (c) => {
      const hash = blake3.safeParse(c.req.param('hash'));
      const found = hash.success ? await readDefinition(c.var.store, hash.data) : null;
      if (found === null) throw unknown('definition', c.req.param('hash'), []);
      mayTouch(c, { workflow: found.workflow });
      return c.json(found as z.output<typeof DefinitionAnswer>);
    },
  )
  .post(
    `${WORKFLOW}/pause`,
    allow('admin', { summary: 'Hand out nothing of it until it is resumed', limits: 'checked' }),
    (c) => pause(c, true),
  )
  .post(`${WORKFLOW}/resume`, allow('admin', { summary: 'Go on after a pause', limits: 'checked' }), (c) =>
    pause(c, false),
  )
  .get(
    `${WORKFLOW}/definitions`,
    allow('read', { summary: 'Every definition it ever had, newest first', limits: 'checked' }),
    async (c) => {
      const name = named(c);
      const found = await listDefinitions(c.var.store, name);
      if (found.length === 0) findWorkflow(await c.var.store.registered.checked(), name);
      return c.json(found);
    },
  )
  .put(
    WORKFLOW,
    allow('admin', {
      summary: 'Register a workflow file, YAML or JSON, under this name',
      rawBody: 'application/yaml',
      query: Where,
      responses: { 200: Registered },
      limits: 'checked',
    }),
    query(Where),
    async (c) => {
      const name = named(c);
      const { root, target, set } = c.req.valid('query');
      const source = await readText(c);
      const loaded = loadWorkflow(source, { name, root, set: readSet(set) });
      if (loaded.kind !== 'workflow') throw invalid(name, source, loaded);
      const result = await registerWorkflow(c.var.store, {
        ...{ name, workflow: loaded.workflow, source, root, target, by: c.var.caller.name },
      });
      if (!result.ok) throw looped(result.problems);
      c.var.bell.ring();
      const known = findWorkflow(await c.var.store.registered.current(), name);
      const warnings = [...warningsOf(loaded.diagnostics, source), ...result.warnings];
      const changes = result.changes as unknown as z.output<typeof Registered>['changes'];
      return c.json({ ...summary(known), changes, warnings });
    },
  )
  .delete(
    WORKFLOW,
    allow('admin', {
      summary: 'Remove a workflow; its files stay, and its history unless history=drop',
      responses: { 200: z.object({ removed: z.string(), history: z.enum(['keep', 'drop']) }) },
      limits: 'checked',
    }),
    query(z.object({ history: z.enum(['keep', 'drop']).default('keep') })),
    async (c) => {
      const name = named(c);
      const { history } = c.req.valid('query');
      if (!(await deleteWorkflow(c.var.store, name, history)))
        throw unknown('workflow', name, [...(await c.var.store.registered.checked()).workflows.keys()]);
      return c.json({ removed: name, history });
    },
  )
  .get(
    WORKFLOW,
    allow('read', { summary: 'One workflow', responses: { 200: Summary }, limits: 'checked' }),
    async (c) => c.json(summary(findWorkflow(await c.var.store.registered.checked(), named(c)))),
  );

const DefinitionAnswer = z.object({
  workflow: z.string(),
  definition: blake3,
  root: z.string(),
  target: z.string(),
  source: z.string(),
  normal_form: z.unknown(),
  registered_at: z.string(),
  registered_by: z.string(),
});

/** The name in the URL, if the caller may touch the workflow that has it. */
function named(c: Context<AppEnv>): string {
  const name = c.req.param('name')!;
  mayTouch(c, { workflow: name });
  return name;
}

async function pause(c: Context<AppEnv>, paused: boolean) {
  const name = named(c);
  if (!(await pauseWorkflow(c.var.store, name, paused)))
    throw unknown('workflow', name, [...(await c.var.store.registered.checked()).workflows.keys()]);
  c.var.bell.ring();
  return c.json(summary(findWorkflow(await c.var.store.registered.current(), name)));
}

function readSet(text: string | undefined): Record<string, Json> {
  if (text === undefined) return {};
  try {
    return z.record(z.string(), z.json()).parse(JSON.parse(text)) as Record<string, Json>;
  } catch (cause) {
    throw new Problem({
      status: 400,
      code: 'bad-set',
      message: "'set' is not a JSON map of params",
      hint: 'send for example set={"model":"base"}, percent-encoded',
      cause,
    });
  }
}

function summary({
  name,
  definition,
  root,
  target,
  paused,
  workflow,
}: KnownWorkflow): z.output<typeof Summary> {
  return { name, definition, root, target, paused, stages: workflow.stages.map(({ id }) => id) };
}

function invalid(
  name: string,
  source: string,
  loaded: Exclude<ReturnType<typeof loadWorkflow>, { kind: 'workflow' }>,
) {
  const errors = loaded.diagnostics
    .filter(({ severity }) => severity === 'error')
    .map((each) => told(each, source));
  const message =
    loaded.kind === 'settings'
      ? 'this is a settings file, not a workflow'
      : `${errors.length} mistake${errors.length === 1 ? '' : 's'} in the workflow '${name}'; nothing was changed`;
  return new Problem({
    status: 422,
    code: 'invalid-workflow',
    message,
    hint: 'correct the file; `sluice validate FILE` shows every mistake at its place',
    extra: { errors },
  });
}

function warningsOf(diagnostics: readonly Diagnostic[], source: string): string[] {
  return diagnostics
    .filter(({ severity }) => severity === 'warning')
    .map((each) => told(each, source))
    .map(({ line, column, message }) => `${line}:${column} ${message}`);
}

function told({ code, message, hint, span }: Diagnostic, source: string) {
  return { ...placeOf(span.start, source, lineStarts(source)), code, message, hint };
}

function looped(problems: readonly string[]): Problem {
  return new Problem({
    status: 409,
    code: 'cycle',
    message: problems.join('; '),
    hint: 'remove one dep of the loop, or remove one of the workflows with `sluice rm`; nothing was changed',
  });
}
