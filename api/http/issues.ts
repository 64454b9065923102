// What a validator found wrong, as a list of places and facts that never quotes the values sent.

import type * as z from 'zod';
import { Problem } from './problem.ts';

export interface Issue {
  /** `states[2].key`, empty for the whole. */
  readonly path: string;
  readonly message: string;
}

/** A request can have a hundred thousand mistakes; its answer stays readable. */
const MAX_ISSUES = 100;

export function invalid(where: 'body' | 'query', error: z.ZodError): Problem {
  const issues = error.issues.flatMap((issue) => describe(issue, []));
  const [first] = issues;
  return new Problem({
    status: 400,
    code: `invalid-${where}`,
    message: `the ${where} is not as expected${first === undefined ? '' : `: ${sentence(first)}`}`,
    hint: 'correct the fields listed under issues; /api/openapi.json has their shapes',
    extra: { issues: issues.slice(0, MAX_ISSUES), issue_count: issues.length },
  });
}

type ZodIssue = z.core.$ZodIssue;
type Path = readonly PropertyKey[];

function describe(issue: ZodIssue, base: Path): Issue[] {
  const path = [...base, ...issue.path];
  if (issue.code === 'unrecognized_keys') {
    return issue.keys.map((key) => ({ path: shown([...path, key]), message: 'unknown field' }));
  }
  const branch = issue.code === 'invalid_union' ? likelyBranch(issue.errors) : undefined;
  if (branch !== undefined) return branch.flatMap((inner) => describe(inner, path));
  return [{ path: shown(path), message: issue.message }];
}

/** Of a union's branches, the one whose own type fits, so that its mistake is told rather than "none fits". */
function likelyBranch(branches: readonly (readonly ZodIssue[])[]): readonly ZodIssue[] | undefined {
  return branches.find((issues) => issues.length > 0 && issues.every(({ path }) => path.length > 0));
}

function shown(path: Path): string {
  let text = '';
  for (const step of path) {
    if (typeof step === 'number') text += `[${step}]`;
    else text += text === '' ? String(step) : `.${String(step)}`;
  }
  return text.length > 200 ? `${text.slice(0, 200)}…` : text;
}

function sentence({ path, message }: Issue): string {
  return path === '' ? message : `${path}: ${message}`;
}
