import { appendFileSync } from 'node:fs';
import { join } from 'node:path';
import { describe, expect, test } from 'vitest';
import { takeOwnership } from '../../host/owner.ts';
import { project } from '../rig/project.ts';
import { FAILING, words } from './words.ts';

describe('log', () => {
  test('shows the last run, or all of them', async () => {
    const p = words();
    await p.run();
    p.write('texts/a.txt', 'x y z w\n');
    await p.run();
    const last = await p.sluice('log', 'p.yaml');
    expect(last.stdout.match(/^run /gm)).toHaveLength(1);
    expect(last.stdout).toMatch(/▸ count_\{text\}@a +deps_hash changed: texts\/a\.txt/);
    expect(last.stdout).toMatch(/ended: 2 run, 1 cached in/);
    expect((await p.sluice('log', 'p.yaml', '--all')).stdout.match(/^run /gm)).toHaveLength(2);
    const { runs } = JSON.parse((await p.sluice('log', 'p.yaml', '--all', '--json')).stdout);
    expect(runs.map(({ events }: { events: { event: string }[] }) => events[0]!.event)).toEqual([
      'run_started',
      'run_started',
    ]);
  });

  test('tells a failure', async () => {
    const p = project({ 'p.yaml': FAILING, 'in.txt': '' });
    await p.run();
    expect((await p.sluice('log', 'p.yaml')).stdout).toMatch(/✗ bad +exit code 3/);
  });

  test('reads on past torn lines and events that it does not know', async () => {
    const p = words();
    await p.run();
    appendFileSync(
      join(p.root, 'p.events.jsonl'),
      '{"ts":"2030-01-01T00:00:00Z","event":"stage_dreamt","stage":"sum"}\n{"ts":"2030',
    );
    const { code, stdout } = await p.sluice('log', 'p.yaml');
    expect(code).toBe(0);
    expect(stdout).toContain("the event 'stage_dreamt' is of a newer Sluice");
    expect(stdout).toContain('the line is cut off or not JSON');
    expect(stdout).toContain('ended: 3 run');
  });

  test('--compact keeps the newest runs whole, 10 unless told, and unknown events with them', async () => {
    const p = words();
    await p.run();
    const first = p.read('p.events.jsonl');
    const one = first.replaceAll(/r-\w+/g, 'r-old');
    const odd = '{"event":"stage_dreamt"}\n';
    p.write('p.events.jsonl', `${one.repeat(14)}${first}${odd}`);
    const { stdout } = await p.sluice('log', 'p.yaml', '--compact');
    expect(stdout).toContain('5 runs dropped, 10 kept');
    expect(p.read('p.events.jsonl')).toBe(`${one.repeat(9)}${first}${odd}`);
    await p.sluice('log', 'p.yaml', '--compact', '--keep', '1');
    expect(p.read('p.events.jsonl')).toBe(`${first}${odd}`);
    expect((await p.sluice('log', 'p.yaml', '--compact', '--keep', '1')).stdout).toContain('0 runs dropped');
  });

  test.each([
    ['a missing file', ['log', 'nope.yaml'], 1, 'nope.yaml does not exist'],
    ['no run yet', ['log', 'p.yaml'], 1, 'was never run here'],
    ['no number of runs', ['log', 'p.yaml', '--compact', '--keep', 'few'], 1, '--compact --keep 10'],
    ['nothing to keep', ['log', 'p.yaml', '--compact', '--keep', '0'], 1, 'is not a number of runs'],
    ['--keep alone', ['log', 'p.yaml', '--keep', '3'], 1, '--keep goes with --compact'],
  ])('%s is told with the next step', async (_title, args, code, told) => {
    expect(await words().sluice(...args)).toMatchObject({ code, stderr: expect.stringContaining(told) });
  });

  test('is not compacted while a run writes to it', async () => {
    const p = words();
    await p.run();
    const before = p.read('p.events.jsonl');
    const owner = takeOwnership(join(p.root, '.sluice', 'owner.db'));
    try {
      expect(await p.sluice('log', 'p.yaml', '--compact', '--keep', '1')).toMatchObject({ code: 4 });
      expect(p.read('p.events.jsonl')).toBe(before);
    } finally {
      owner!.release();
    }
  });
});
