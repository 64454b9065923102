// A caller's mistake as an error with its next step, and how it looks as problem+json (RFC 9457).

import type { ContentfulStatusCode } from 'hono/utils/http-status';

export interface ProblemParts {
  readonly status: ContentfulStatusCode;
  /** Kebab-case, for scripts. */
  readonly code: string;
  /** The fact. */
  readonly message: string;
  /** The next step. */
  readonly hint: string;
  /** Further fields of the answer. */
  readonly extra?: Readonly<Record<string, unknown>>;
  readonly headers?: Readonly<Record<string, string>>;
  readonly cause?: unknown;
}

export class Problem extends Error {
  override readonly name = 'Problem';
  readonly status: ContentfulStatusCode;
  readonly code: string;
  readonly hint: string;
  readonly extra: Readonly<Record<string, unknown>>;
  readonly headers: Readonly<Record<string, string>>;

  constructor(parts: ProblemParts) {
    super(parts.message, { cause: parts.cause });
    this.status = parts.status;
    this.code = parts.code;
    this.hint = parts.hint;
    this.extra = parts.extra ?? {};
    this.headers = parts.headers ?? {};
  }
}

export function problemResponse(problem: Problem): Response {
  const { status, code, hint, message: detail } = problem;
  const title = TITLES[status] ?? (status < 500 ? 'Refused' : 'Failed');
  const fixed = { type: 'about:blank', title, status, code, detail, hint };
  // Twice: first in the order of the text, and never overwritten.
  const body = { ...fixed, ...problem.extra, ...fixed };
  return new Response(JSON.stringify(body), {
    status,
    headers: { ...problem.headers, 'Content-Type': 'application/problem+json', 'Cache-Control': 'no-store' },
  });
}

const TITLES: Readonly<Record<number, string>> = {
  400: 'Bad Request',
  401: 'Unauthorized',
  403: 'Forbidden',
  404: 'Not Found',
  405: 'Method Not Allowed',
  409: 'Conflict',
  412: 'Precondition Failed',
  413: 'Content Too Large',
  415: 'Unsupported Media Type',
  422: 'Unprocessable Content',
  429: 'Too Many Requests',
  500: 'Internal Server Error',
  503: 'Service Unavailable',
};
