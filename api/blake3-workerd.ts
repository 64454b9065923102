// BLAKE3 inside workerd, which runs wasm only from a module that was compiled before the upload.

import instantiate, { hash } from 'blake3-wasm/dist/wasm/web/blake3_js.js';
import compiled from 'blake3-wasm/dist/wasm/web/blake3_js_bg.wasm';
import type { HashBytes } from '../schema/blake3.ts';

// Awaited here, where it costs start-up and no request, so that hashing itself stays synchronous.
await instantiate(compiled);

export const hashBytes: HashBytes = (bytes) => {
  const digest = new Uint8Array(32);
  hash(bytes, digest);
  return digest;
};
