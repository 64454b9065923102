// Refuses text that no database column can hold and nesting that no reader of ours would survive.

import { Problem } from './problem.ts';

export const MAX_DEPTH = 64;

export function checkText(text: string, where: string): void {
  if (!text.includes('\0') && text.isWellFormed()) return;
  throw new Problem({
    status: 400,
    code: 'unusable-text',
    message: `${where} has a NUL character or half a surrogate pair`,
    hint: 'send text without them',
  });
}

/** Walks with its own stack: a body of a million brackets must not use up the program's. */
export function checkValue(value: unknown): void {
  const open: { readonly value: unknown; readonly depth: number }[] = [{ value, depth: 0 }];
  for (let next = open.pop(); next !== undefined; next = open.pop()) {
    if (typeof next.value === 'string') checkText(next.value, 'a string in the body');
    if (typeof next.value !== 'object' || next.value === null) continue;
    const depth = next.depth + 1;
    if (depth > MAX_DEPTH) throw tooDeep();
    for (const key in next.value) {
      if (!Array.isArray(next.value)) checkText(key, 'a field name in the body');
      open.push({ value: (next.value as Record<string, unknown>)[key], depth });
    }
  }
}

function tooDeep(): Problem {
  return new Problem({
    status: 400,
    code: 'body-too-deep',
    message: `the body is nested deeper than ${MAX_DEPTH} levels`,
    hint: 'send a flatter document',
  });
}
