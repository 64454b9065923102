// A text that is nothing without a placeholder: written without braces it would be taken for its own value.

import * as z from 'zod';
import { parseTemplate } from '../../schema/template/parse.ts';

export const expression = z
  .string()
  .refine(hasPlaceholder, 'expected an expression in braces, such as {{$.stage.content.field}}');

function hasPlaceholder(text: string): boolean {
  const { parts, errors } = parseTemplate(text, { variables: [], dialect: 'braces' });
  // A mistake in the braces has a message of its own, when the template is filled.
  return (
    errors.length > 0 || parts.some(({ kind }) => kind === 'placeholder') || /\{[A-Za-z_][\w-]*\}/.test(text)
  );
}
