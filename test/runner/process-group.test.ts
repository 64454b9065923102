import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { expect, onTestFinished, test, vi } from 'vitest';
import { isRunning, signalGroup } from '../../runner/process-group.ts';

test.each([0, 1, -1, -5, 1.5, Number.NaN])('%d is never signalled', (group) => {
  expect(() => signalGroup(group, 0)).toThrow('not a process group');
});

test('the dead whom nobody has reaped do not count as running', async () => {
  // The parent of `true` leaves the group, lives on and never asks after its child.
  const script = 'exec 3<&0; (true & exec setsid sh -c "read -r _ <&3") & exit 0';
  const child = spawn('sh', ['-c', script], { detached: true, stdio: ['pipe', 'ignore', 'ignore'] });
  onTestFinished(() => void child.stdin.end());
  await once(child, 'exit');
  const group = child.pid!;
  await vi.waitFor(() => expect(isRunning(group)).toBe(false));
  expect(signalGroup(group, 0)).toBe(true);
});
