import { execFileSync } from 'node:child_process';
import { existsSync, readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import fc from 'fast-check';
import { expect, test } from 'vitest';
import { maskOf } from '../../runner/mask.ts';
import { temporaryFolder } from '../rig/cli.ts';

const SECRET = `p4ss w/"rd'$x\\ é+`;
const base64 = (text: string) => Buffer.from(text).toString('base64');

test.each<[string, string]>([
  ['as it is', SECRET],
  ['base64', base64(SECRET)],
  ['base64, one byte on', base64(`:${SECRET} and more`)],
  ['base64, two bytes on', base64(`ab${SECRET} and more`)],
  ['base64 for URLs', Buffer.from(`user:${SECRET}`).toString('base64url')],
  ['hex', Buffer.from(SECRET).toString('hex')],
  ['upper-case hex', Buffer.from(SECRET).toString('hex').toUpperCase()],
  ['URL-encoded', encodeURIComponent(SECRET)],
  ['form-encoded', new URLSearchParams({ key: SECRET }).toString()],
  ['JSON', JSON.stringify({ key: SECRET })],
  ['single quotes of a shell', `'${SECRET.replaceAll("'", "'\\''")}'`],
  ['printf %q', execFileSync('bash', ['-c', 'printf %q "$1"', 'sh', "p4ss w/rd'$x"]).toString()],
])('a secret is taken out %s', (name, text) => {
  const mask = maskOf([SECRET, "p4ss w/rd'$x"])!;
  const said = mask.text(`before ${text} after`);
  expect(said).toContain('***');
  // At the edges of base64 a character also depends on its neighbours; no more than that may stay.
  for (const piece of piecesOf(text, name)) expect(said).not.toContain(piece);
});

function piecesOf(text: string, name: string): string[] {
  if (!name.startsWith('base64,') && name !== 'base64 for URLs') return [text];
  const middle = Math.floor(text.length / 3);
  return [text.slice(middle, middle + 8)];
}

test('a key of many lines is taken out line by line, and base64 that is broken into lines too', () => {
  const key = `-----BEGIN KEY-----\n${'a1b2c3d4'.repeat(10)}\n-----END KEY-----\n`;
  const mask = maskOf([key])!;
  expect(mask.text(`  ${'a1b2c3d4'.repeat(10)}`)).toBe('  ***');
  const wrapped = base64(key).replace(/.{76}/g, '$&\n');
  expect(mask.text(wrapped)).toMatch(/^\*\*\*=*\s*$/);
});

test('a secret in any place of a large file is taken out, also across the edges of what is read at once', () => {
  const folder = temporaryFolder();
  const [from, to] = [join(folder, 'raw'), join(folder, 'masked')];
  fc.assert(
    fc.property(fc.integer({ min: -40, max: 40 }), (offset) => {
      const before = Buffer.alloc((1 << 20) + offset, 0xe9);
      writeFileSync(from, Buffer.concat([before, Buffer.from(`${SECRET}\n`), Buffer.from(base64(SECRET))]));
      maskOf([SECRET])!.file(from, to);
      const masked = readFileSync(to);
      expect(existsSync(from)).toBe(false);
      expect(masked.subarray(0, before.length).equals(before)).toBe(true);
      expect(masked.subarray(before.length).toString()).toMatch(/^\*\*\*\n\*\*\*.?=*$/);
    }),
    { numRuns: 40 },
  );
});

test('nothing secret, no mask', () => {
  expect(maskOf([])).toBeNull();
  expect(maskOf([''])).toBeNull();
});
