// Inputs on both sides of every border inside BLAKE3, and the digests its authors publish for some of them.

/** Bytes 0 to 250 over and over, as the published vectors want it. */
export function paint(length: number): Uint8Array {
  return Uint8Array.from({ length }, (_, i) => i % 251);
}

/** Around a chunk (1 KiB), around the size from which hashing may go wide, and beyond. */
export const LENGTHS = [0, 1, 1023, 1024, 1025, 65_535, 65_536, 65_537, 1_048_576];

/** From test_vectors.json of BLAKE3-team/BLAKE3: the input's length and the first 32 bytes of output. */
export const VECTORS: readonly (readonly [length: number, digest: string])[] = [
  [0, 'af1349b9f5f9a1a6a0404dea36dcc9499bcb25c9adc112b7cc9a93cae41f3262'],
  [1, '2d3adedff11b61f14c886e35afa036736dcd87a74d27b5c1510225d0f592e213'],
  [1023, '10108970eeda3eb932baac1428c7a2163b0e924c9a9e25b35bba72b28f70bd11'],
  [1024, '42214739f095a406f3fc83deb889744ac00df831c10daa55189b5d121c855af7'],
  [1025, 'd00278ae47eb27b34faecf67b4fe263f82d5412916c1ffd97c8cb7fb814b8444'],
  [8193, 'bab6c09cb8ce8cf459261398d2e7aef35700bf488116ceb94a36d0f5f1b7bc3b'],
  [31_744, '62b6960e1a44bcc1eb1a611a8d6235b6b4b78f32e7abc4fb4c6cdcce94895c47'],
  [102_400, 'bc3e3d41a1146b069abffad3c0d44860cf664390afce4d9661f7902e7943e085'],
];
