import { lstatSync, mkdirSync, readdirSync, readFileSync, symlinkSync, writeFileSync } from 'node:fs';
import { basename, dirname, join } from 'node:path';
import fc from 'fast-check';
import { expect, test } from 'vitest';
import { discardOutputs, placeOutputs, prepareOutputs, siblingOf } from '../../runner/outputs.ts';
import { temporaryFolder } from '../rig/cli.ts';

const yes = () => Promise.resolve(true);
const beside = (path: string) => ({ path, made: 'beside' as const });
const inPlace = (path: string) => ({ path, made: 'in-place' as const });

test('a file is made beside its place under a hidden name and renamed after the check', async () => {
  const out = join(temporaryFolder(), 'deep/er/a.wav');
  const outs = prepareOutputs([beside(out)], 't1');
  expect(outs[0]!.writeTo).toBe(join(dirname(out), '.sluice-t1.a.wav'));
  writeFileSync(outs[0]!.writeTo, 'new');
  const placement = await placeOutputs(outs, async () => {
    expect(readdirSync(dirname(out))).toEqual(['.sluice-t1.a.wav']);
    return true;
  });
  expect(placement).toEqual({ kind: 'placed' });
  expect(readdirSync(dirname(out))).toEqual(['a.wav']);
});

test('a lost lease leaves the old outputs as they were', async () => {
  const folder = temporaryFolder({ a: 'old' });
  const outs = prepareOutputs([beside(join(folder, 'a'))], 't1');
  writeFileSync(outs[0]!.writeTo, 'new');
  expect(await placeOutputs(outs, () => Promise.resolve(false))).toEqual({ kind: 'refused' });
  expect(readFileSync(join(folder, 'a'), 'utf8')).toBe('old');
  discardOutputs(outs);
  expect(readdirSync(folder)).toEqual(['a']);
});

test('an output that was not made is missing, even where an old one is, and nothing is renamed or asked', async () => {
  const folder = temporaryFolder({ a: 'old', b: 'old' });
  const paths = [join(folder, 'a'), join(folder, 'b'), join(folder, 'c')] as const;
  const outs = prepareOutputs([beside(paths[0]), beside(paths[1]), inPlace(paths[2])], 't1');
  writeFileSync(outs[0]!.writeTo, 'new');
  const placement = await placeOutputs(outs, () => Promise.reject(new Error('asked')));
  expect(placement).toEqual({ kind: 'missing', paths: [paths[1], paths[2]] });
  expect(readFileSync(paths[0], 'utf8')).toBe('old');
});

test('what is made in place is written to its path and never discarded', async () => {
  const folder = temporaryFolder();
  const outs = prepareOutputs([inPlace(join(folder, 'made/dir'))], 't1');
  expect(outs[0]!.writeTo).toBe(join(folder, 'made/dir'));
  mkdirSync(outs[0]!.writeTo);
  expect(await placeOutputs(outs, yes)).toEqual({ kind: 'placed' });
  discardOutputs(outs);
  expect(readdirSync(join(folder, 'made'))).toEqual(['dir']);
});

test('a directory in the place of a file blocks it and is named', async () => {
  const folder = temporaryFolder({ 'a/keep': '' });
  const outs = prepareOutputs([beside(join(folder, 'a'))], 't1');
  writeFileSync(outs[0]!.writeTo, 'new');
  const placement = await placeOutputs(outs, yes);
  expect(placement).toMatchObject({ kind: 'blocked', path: join(folder, 'a'), reason: expect.any(String) });
  expect(readdirSync(join(folder, 'a'))).toEqual(['keep']);
});

test('a link is kept and the file that it points to is replaced, beside which the new one is made', async () => {
  const folder = temporaryFolder({ 'store/real': 'old' });
  symlinkSync('store/real', join(folder, 'a'));
  const outs = prepareOutputs([beside(join(folder, 'a'))], 't1');
  expect(dirname(outs[0]!.writeTo)).toMatch(/store$/);
  writeFileSync(outs[0]!.writeTo, 'new');
  await placeOutputs(outs, yes);
  expect(lstatSync(join(folder, 'a')).isSymbolicLink()).toBe(true);
  expect(readFileSync(join(folder, 'store/real'), 'utf8')).toBe('new');
});

test('siblings fit any file system, keep the extension and differ where names differ', () => {
  const name = fc.string({ unit: 'grapheme', minLength: 1, maxLength: 260 }).filter((s) => !/[/\0]/.test(s));
  fc.assert(
    fc.property(name, name, (a, b) => {
      const [one, two] = [a, b].map((n) => siblingOf(`/d/x${n}.tar.gz`, 'tok_1-2'));
      expect(Buffer.byteLength(basename(one!))).toBeLessThanOrEqual(255);
      expect(one).toMatch(/^\/d\/\.sluice-tok_1-2\..*\.tar\.gz$/su);
      expect(one === two).toBe(a === b);
    }),
  );
});

test('a token that could leave the directory is refused', () => {
  expect(() => siblingOf('/d/a', '../x')).toThrow("not usable in a file name: '../x'");
});
