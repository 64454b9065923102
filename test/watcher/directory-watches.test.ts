import { mkdirSync, renameSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { expect, onTestFinished, test } from 'vitest';
import { DirectoryWatches } from '../../watcher/directory-watches.ts';
import { temporaryFolder } from '../rig/cli.ts';
import { until } from '../rig/up.ts';

function watching(root: string, options: Partial<ConstructorParameters<typeof DirectoryWatches>[0]> = {}) {
  const changed: string[] = [];
  const warnings: string[] = [];
  const watches = new DirectoryWatches({
    changed: (path) => void changed.push(path.slice(root.length + 1)),
    warn: (warning) => void warnings.push(warning),
    ...options,
  });
  onTestFinished(() => watches.close());
  return { watches, changed, warnings };
}

test('what happens in a directory that was listed is told', async () => {
  const root = temporaryFolder({ 'in/a': 'a' });
  const { watches, changed } = watching(root);
  watches.disk.list(join(root, 'in'));
  writeFileSync(join(root, 'in/b'), 'b');
  await until(() => changed.includes('in/b'));
});

test('of a path that is not there the nearest directory tells when the way to it appears', async () => {
  const root = temporaryFolder({ a: 'a' });
  const { watches, changed } = watching(root);
  expect(watches.disk.stat(join(root, 'far/below/x'))).toBeNull();
  mkdirSync(join(root, 'far'));
  await until(() => changed.includes('far'));
});

test('a directory that moved is watched under its new name once it is looked at', async () => {
  const root = temporaryFolder({ 'in/old/a': 'a' });
  const { watches, changed } = watching(root);
  for (const each of ['in', 'in/old']) watches.disk.list(join(root, each));
  renameSync(join(root, 'in/old'), join(root, 'in/new'));
  await until(() => changed.includes('in/old') && changed.includes('in/new'));
  watches.disk.list(join(root, 'in/new'));
  writeFileSync(join(root, 'in/new/b'), 'b');
  await until(() => changed.includes('in/new/b'));
});

test('many files in one directory take one watch', () => {
  const root = temporaryFolder(Object.fromEntries(Array.from({ length: 50 }, (_, i) => [`in/${i}`, ''])));
  const { watches } = watching(root);
  for (const { name } of watches.disk.list(join(root, 'in'))) watches.disk.stat(join(root, 'in', name));
  expect(watches.size).toBe(1);
});

test('when the system has no watches left it is said once, with the limit to raise', () => {
  const root = temporaryFolder({ 'a/x': '', 'b/x': '' });
  const watch = () => {
    throw Object.assign(new Error('no space'), { code: 'ENOSPC' });
  };
  const { watches, warnings } = watching(root, { watch });
  for (const each of ['a', 'b']) expect(watches.disk.list(join(root, each))).toHaveLength(1);
  expect(watches.isExhausted).toBe(true);
  expect(warnings).toHaveLength(1);
  expect(warnings[0]).toContain('sysctl fs.inotify.max_user_watches=');
});
