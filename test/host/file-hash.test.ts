import { execFileSync } from 'node:child_process';
import {
  appendFileSync,
  chmodSync,
  renameSync,
  rmSync,
  statSync,
  symlinkSync,
  utimesSync,
  writeFileSync,
} from 'node:fs';
import { afterEach, beforeEach, describe, expect, test } from 'vitest';
import { loadWasm } from '../../host/blake3.ts';
import { DISK } from '../../host/disk.ts';
import { CHUNK_BYTES } from '../../host/file-hash.ts';
import { asBlake3 } from '../../schema/blake3.ts';
import { HashRig, refusing } from './hash-rig.ts';

let rig: HashRig;
beforeEach(() => {
  rig = new HashRig();
});
afterEach(() => rig.remove());

function hashOf(content: string | Uint8Array) {
  return asBlake3(rig.blake3.hash(Buffer.from(content)));
}

describe('what is at a path', () => {
  test('a file is its bytes and its size', () => {
    rig.write('a.txt', 'content');
    expect(rig.hasher().hashPath(rig.at('a.txt'))).toEqual({
      kind: 'file',
      hash: hashOf('content'),
      size: 7,
    });
  });

  test.each([0, 1, CHUNK_BYTES - 1, CHUNK_BYTES, CHUNK_BYTES + 1, 3 * CHUNK_BYTES])(
    'a file of %i bytes has the same hash in one call, in chunks and in wasm',
    async (size) => {
      const bytes = Buffer.alloc(size, 'abcdefg');
      rig.write('f', bytes);
      const expected = { kind: 'file', hash: hashOf(bytes), size };
      expect(rig.hasher({ cache: rig.newCache() }).hashPath(rig.at('f'))).toEqual(expected);
      expect(await rig.hasher({ cache: rig.newCache() }).hashPathInSlices(rig.at('f'))).toEqual(expected);
      rig.blake3 = loadWasm();
      expect(rig.hasher({ cache: rig.newCache() }).hashPath(rig.at('f'))).toEqual(expected);
    },
  );

  test('nothing is there, or below a file', () => {
    rig.write('file');
    expect(rig.hasher().hashPath(rig.at('none'))).toEqual({ kind: 'missing' });
    expect(rig.hasher().hashPath(rig.at('file/below'))).toEqual({ kind: 'missing' });
    expect(rig.hasher().hashPath(`${rig.at('file')}/`)).toEqual({ kind: 'missing' });
  });

  test.each(['-rf', 'two\nlines', '🎧 épisode.wav', '$(reboot) ; x', ' ', '\uFFFD'])(
    'takes the name %j',
    (name) => {
      rig.write(name, 'x');
      expect(rig.hasher().hashPath(rig.at(name))).toMatchObject({ kind: 'file', hash: hashOf('x') });
    },
  );

  test('a link is followed, and its target is what counts', () => {
    rig.write('real', 'one');
    symlinkSync('real', rig.at('link'));
    expect(rig.hasher().hashPath(rig.at('link'))).toMatchObject({ kind: 'file', hash: hashOf('one') });
    writeFileSync(rig.at('real'), 'two');
    expect(rig.hasher().hashPath(rig.at('link'))).toMatchObject({ kind: 'file', hash: hashOf('two') });
  });

  test('a link to nothing is missing, a circle of links is unreadable', () => {
    symlinkSync('nowhere', rig.at('dangling'));
    symlinkSync('loop', rig.at('loop'));
    expect(rig.hasher().hashPath(rig.at('dangling'))).toEqual({ kind: 'missing' });
    expect(rig.hasher().hashPath(rig.at('loop'))).toEqual({
      kind: 'unreadable',
      path: rig.at('loop'),
      reason: 'its links go round in a circle (ELOOP)',
    });
  });

  test('a named pipe is unreadable and holds nobody up', () => {
    execFileSync('mkfifo', [rig.at('pipe')]);
    expect(rig.hasher().hashPath(rig.at('pipe'))).toMatchObject({
      kind: 'unreadable',
      reason: expect.stringContaining('pipe'),
    });
  });

  test.each(['EACCES', 'EIO'])('a file that fails to open with %s is unreadable and says why', (code) => {
    rig.write('secret');
    rig.disk = { ...DISK, open: refusing(code) };
    const reason = expect.stringMatching(`read it.*\\(${code}\\)`);
    expect(rig.hasher().hashPath(rig.at('secret'))).toEqual({
      kind: 'unreadable',
      path: rig.at('secret'),
      reason,
    });
  });

  test('a file that fails half way is unreadable and leaves nothing open', () => {
    rig.write('f');
    let open = 0;
    rig.disk = {
      ...DISK,
      open: (path) => {
        open++;
        return DISK.open(path);
      },
      read: refusing('EIO'),
      close: (fd) => {
        open--;
        DISK.close(fd);
      },
    };
    expect(rig.hasher().hashPath(rig.at('f'))).toMatchObject({ kind: 'unreadable' });
    expect(open).toBe(0);
  });

  test('our own mistakes are not taken for unreadable files', () => {
    rig.write('f');
    rig.disk = {
      ...DISK,
      read: () => {
        throw new TypeError('a bug');
      },
    };
    expect(() => rig.hasher().hashPath(rig.at('f'))).toThrow('a bug');
  });
});

describe('what is not read again', () => {
  beforeEach(() => {
    rig.write('f', 'one');
    rig.hasher().hashPath(rig.at('f'));
    rig.forgetCounts();
  });

  test('an unchanged file', () => {
    expect(rig.hasher().hashPath(rig.at('f'))).toEqual({ kind: 'file', hash: hashOf('one'), size: 3 });
    expect(rig.opened).toEqual([]);
    expect(rig.hashes).toBe(0);
  });

  test('a touched file, after it was read once and found the same', () => {
    utimesSync(rig.at('f'), 1, 1);
    for (const _ of [1, 2, 3])
      expect(rig.hasher().hashPath(rig.at('f'))).toMatchObject({ hash: hashOf('one') });
    expect(rig.opened).toEqual(['f']);
  });

  test('a file whose mode changed, after one reading: the mode is not content', () => {
    const before = rig.hasher().hashPath(rig.at('f'));
    chmodSync(rig.at('f'), 0o700);
    expect(rig.hasher().hashPath(rig.at('f'))).toEqual(before);
  });

  test('a file whose stamp the caller has just taken is not asked for it again', () => {
    const stamp = DISK.stat(rig.at('f'))!;
    rig.disk = { ...DISK, stat: refusing('EIO') };
    expect(rig.hasher().hashPath(rig.at('f'), stamp)).toMatchObject({ hash: hashOf('one') });
    expect(rig.opened).toEqual([]);
  });
});

describe('what is seen', () => {
  test('an edit of the same length with its modification time put back', () => {
    rig.write('f', 'one');
    const { atimeMs, mtimeMs } = statSync(rig.at('f'));
    utimesSync(rig.at('f'), atimeMs / 1000, Math.floor(mtimeMs / 1000));
    rig.hasher().hashPath(rig.at('f'));
    // A second write can only share the tick of the first where the clock stands still; here it must not.
    const before = DISK.stat(rig.at('f'))!;
    do {
      writeFileSync(rig.at('f'), 'two');
      utimesSync(rig.at('f'), atimeMs / 1000, Math.floor(mtimeMs / 1000));
    } while (DISK.stat(rig.at('f'))!.ctimeNs === before.ctimeNs);
    expect(DISK.stat(rig.at('f'))!.mtimeNs).toBe(before.mtimeNs);
    expect(rig.hasher().hashPath(rig.at('f'))).toMatchObject({ hash: hashOf('two') });
  });

  test('an edit in the tick of the last look, which leaves every stamp as it was', () => {
    rig.freezeStamps(rig.nowMs);
    rig.write('f', 'one');
    expect(rig.hasher().hashPath(rig.at('f'))).toMatchObject({ hash: hashOf('one') });
    rig.write('f', 'two');
    rig.nowMs += 3_600_000;
    expect(rig.hasher().hashPath(rig.at('f'))).toMatchObject({ hash: hashOf('two') });
    rig.hasher().hashPath(rig.at('f'));
    expect(rig.opened).toEqual(['f', 'f']);
  });

  test('a file swapped for another of the same size and times', () => {
    rig.freezeStamps(rig.nowMs - 3_600_000);
    rig.write('f', 'one');
    rig.write('g', 'two');
    rig.hasher().hashPath(rig.at('f'));
    renameSync(rig.at('g'), rig.at('f'));
    expect(rig.hasher().hashPath(rig.at('f'))).toMatchObject({ hash: hashOf('two') });
  });

  test('a file that another one stood in for while it was read', () => {
    rig.write('v1/f', 'one');
    rig.write('v2/f', 'two');
    const point = (version: string) => {
      rmSync(rig.at('current'), { force: true });
      symlinkSync(version, rig.at('current'));
    };
    point('v1');
    rig.disk = {
      ...DISK,
      open: (path) => {
        point('v2');
        return DISK.open(path);
      },
    };
    expect(rig.hasher().hashPath(rig.at('current/f'))).toMatchObject({ hash: hashOf('two') });
    point('v1');
    rig.disk = DISK;
    expect(rig.hasher().hashPath(rig.at('current/f'))).toMatchObject({ hash: hashOf('one') });
  });

  test('a file that grew while it was read is read again', () => {
    rig.write('f', 'one');
    let grow = () => appendFileSync(rig.at('f'), ' more');
    rig.disk = {
      ...DISK,
      read: (...args) => {
        const count = DISK.read(...args);
        grow();
        grow = () => {};
        return count;
      },
    };
    rig.hasher().hashPath(rig.at('f'));
    expect(rig.hasher().hashPath(rig.at('f'))).toMatchObject({ hash: hashOf('one more'), size: 8 });
    expect(rig.opened).toEqual(['f', 'f']);
  });
});

test('a large file lets the event loop in between its slices', async () => {
  const bytes = Buffer.alloc(40 * 2 ** 20, 'x');
  rig.write('large', bytes);
  let [turns, done] = [0, false];
  const count = () => {
    turns++;
    if (!done) setImmediate(count);
  };
  setImmediate(count);
  const content = await rig.hasher().hashPathInSlices(rig.at('large'));
  done = true;
  expect(content).toEqual({ kind: 'file', hash: hashOf(bytes), size: bytes.length });
  expect(turns).toBeGreaterThanOrEqual(4);
});
