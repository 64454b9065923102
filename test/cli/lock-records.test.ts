import { writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { expect, test } from 'vitest';
import { LockRecords } from '../../cli/run/lock-records.ts';
import { loadBlake3 } from '../../host/blake3.ts';
import { formatLockFile } from '../../schema/lock-file/format.ts';
import type { Stage, Workflow } from '../../schema/workflow.ts';
import { temporaryFolder } from '../rig/cli.ts';
import { digest, sample, stage, state } from '../schema/lock-file-samples.ts';

const STAGE = { id: 'up_{x}' } as Stage;
const WORKFLOW = {
  ...{ name: 'corpus', params: {}, stages: [STAGE], policy: { lockFile: true, lockTimings: true } },
} as unknown as Workflow;

/** A lock file with these entities of one stage, and what reads it as a new process would. */
function locked(...entities: string[]) {
  const folder = temporaryFolder();
  const path = join(folder, 'p.lock.yaml');
  const write = (...names: string[]) =>
    writeFileSync(
      path,
      formatLockFile(sample([[STAGE.id, stage(names.map((name, i) => [name, state(i + 1)]))]])),
    );
  write(...entities);
  const open = () =>
    new LockRecords({ path, note: join(folder, 'own/note'), workflow: WORKFLOW, blake3: loadBlake3() });
  return {
    write,
    open,
    names: () =>
      open()
        .entries()
        .map(({ entity }) => entity),
  };
}

const made = (n: number, cmd = 22) => {
  const { entities: _, ...recipe } = stage([]);
  return { state: state(n), recipe: { ...recipe, cmd_hash: digest(cmd) } };
};

test('what was made since the last save stays when somebody else writes the file, under whichever recipe', () => {
  const { write, open, names } = locked('a');
  const lock = open();
  lock.set(STAGE, 'mine', made(50));
  lock.set(STAGE, 'other recipe', made(60, 7));
  write('a', 'theirs');
  expect(lock.takeIn()).toBe(true);
  lock.save(0);
  expect(names()).toEqual(['a', 'mine', 'other recipe', 'theirs']);
  const recipes = new Map(
    open()
      .entries()
      .map(({ entity, recipe }) => [entity, recipe.cmd_hash]),
  );
  expect([recipes.get('mine'), recipes.get('other recipe')]).toEqual([digest(22), digest(7)]);
  expect(lock.takeIn()).toBe(false);
});

test('the bytes that were written last are known as ours, and as complete only if somebody said so', () => {
  const { write, open } = locked('a');
  const stands = () => {
    const lock = open();
    return [lock.isOurs(), lock.wasComplete];
  };
  expect(stands()).toEqual([false, false]);
  open().remember({ isComplete: false });
  expect(stands()).toEqual([true, false]);
  open().remember({ isComplete: true });
  expect(stands()).toEqual([true, true]);
  const lock = open();
  expect(lock.isOurs()).toBe(true);
  write('a', 'theirs');
  lock.takeIn();
  expect(lock.wasComplete).toBe(false);
  expect(stands()).toEqual([false, false]);
});

test('who dies while something is made leaves a file that is nobody’s', () => {
  const { open } = locked('a');
  open().remember({ isComplete: true });
  open().fallsBehind();
  expect(open().isOurs()).toBe(false);
});
