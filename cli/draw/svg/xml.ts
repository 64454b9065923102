// Text that is safe inside XML, and numbers that are short.

import { shown } from '../../../schema/diagnostic.ts';

const ENTITIES: Readonly<Record<string, string>> = {
  '&': '&amp;',
  '<': '&lt;',
  '>': '&gt;',
  '"': '&quot;',
  "'": '&#39;',
};

/** U+FFFE and U+FFFF are the only characters that `shown` leaves and XML forbids. */
export function xmlText(text: string): string {
  return shown(text)
    .replace(/[\ufffe\uffff]/g, (c) => `\\u{${c.charCodeAt(0).toString(16)}}`)
    .replace(/[&<>"']/g, (c) => ENTITIES[c]!);
}

/** Several lines, as a tooltip shows them. */
export function titleElement(lines: readonly string[]): string {
  return `<title>${lines.map(xmlText).join('\n')}</title>`;
}

export function num(value: number): string {
  return String(Math.round(value * 10) / 10 + 0);
}
