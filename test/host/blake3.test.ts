import fc from 'fast-check';
import { describe, expect, test } from 'vitest';
import { type Blake3Implementation, loadBlake3, loadNative, loadWasm } from '../../host/blake3.ts';
import { asBlake3 } from '../../schema/blake3.ts';
import { LENGTHS, paint, VECTORS } from '../rig/blake3-samples.ts';

const native = loadNative();
const wasm = loadWasm();

test('the native addon is taken where there is one', () => {
  expect(loadBlake3().name).toBe('native');
});

describe.each([native, wasm])('$name', (blake3) => {
  test.each(VECTORS)('gives the published digest of %i bytes', (length, digest) => {
    expect(asBlake3(blake3.hash(paint(length)))).toBe(`blake3:${digest}`);
    expect(blake3.hex(paint(length))).toBe(digest);
  });

  test('hashes a view, not the whole memory behind it', () => {
    const view = new Uint8Array([9, 9, ...paint(1025), 9]).subarray(2, 2 + 1025);
    expect(asBlake3(blake3.hash(view))).toBe(asBlake3(blake3.hash(paint(1025))));
    expect(asBlake3(stream(blake3, [view]))).toBe(asBlake3(blake3.hash(paint(1025))));
  });

  test('a digest stays as it was when something else is hashed', () => {
    const empty = blake3.hash(paint(0));
    blake3.hash(paint(1));
    expect(asBlake3(empty)).toBe(`blake3:${VECTORS[0]![1]}`);
  });
});

test.each(LENGTHS)('native and wasm agree on %i bytes, at once and in chunks', (length) => {
  const bytes = paint(length);
  const cut = Math.floor(length / 3);
  const digests = [native, wasm].flatMap((blake3) => [
    asBlake3(blake3.hash(bytes)),
    asBlake3(stream(blake3, [bytes.subarray(0, cut), bytes.subarray(cut)])),
  ]);
  expect(new Set(digests)).toHaveLength(1);
});

test('however any bytes are cut into chunks, native and wasm give one digest', () => {
  const chunks = fc.array(fc.uint8Array({ maxLength: 3000 }), { maxLength: 5 });
  fc.assert(
    fc.property(chunks, (parts) => {
      const expected = asBlake3(native.hash(Buffer.concat(parts)));
      expect(asBlake3(wasm.hash(Buffer.concat(parts)))).toBe(expected);
      expect(asBlake3(stream(native, parts))).toBe(expected);
      expect(asBlake3(stream(wasm, parts))).toBe(expected);
    }),
  );
});

function stream({ start }: Blake3Implementation, chunks: readonly Uint8Array[]): Uint8Array {
  const hasher = start();
  for (const chunk of chunks) hasher.update(chunk);
  return hasher.digest();
}
