// What can be wrong with a template or with filling it, as values that point into the template's text.

import type { Span } from '../diagnostic.ts';

export interface TemplateProblem extends Span {
  /** Stable and kebab-case, as in a Diagnostic. */
  readonly code: string;
  readonly message: string;
  readonly hint: string;
}

export type Outcome<T> =
  | { readonly ok: true; readonly value: T }
  | { readonly ok: false; readonly problems: readonly TemplateProblem[] };

export function good<T>(value: T): Outcome<T> {
  return { ok: true, value };
}

export function bad<T>(...problems: readonly TemplateProblem[]): Outcome<T> {
  return { ok: false, problems };
}
