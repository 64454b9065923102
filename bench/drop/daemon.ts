// One watching program as a process group: started, asked what it costs, ended.

import { spawn, spawnSync } from 'node:child_process';
import { once } from 'node:events';
import { readdirSync, readFileSync } from 'node:fs';
import { createInterface } from 'node:readline';
import { ENV } from '../measure/command.ts';
import type { Watching } from '../peers/peer.ts';

const TICKS_PER_SECOND = 100;
const PAGE_MB = 4_096 / 2 ** 20;

export interface Daemon {
  /** Seconds from its start until it said that it watches; never, if it does not say. */
  readonly readySeconds: Promise<number>;
  /** Its last lines. */
  said(): string;
  hasEnded(): boolean;
  costs(): DaemonCosts;
  end(): Promise<void>;
}

/** CPU seconds until now and megabytes resident, of all processes of the group. */
export interface DaemonCosts {
  readonly cpuSeconds: number;
  readonly residentMb: number;
}

export function startDaemon({ command, ready, stop }: Watching, folder: string): Daemon {
  const begun = performance.now();
  // A group of its own, so that what it started ends with it.
  const child = spawn(command[0]!, command.slice(1), {
    cwd: folder,
    env: ENV,
    detached: true,
    // Some end when their input does.
    stdio: ['pipe', 'pipe', 'pipe'],
  });
  const lines: string[] = [];
  const readySeconds = new Promise<number>((resolve) => {
    for (const stream of [child.stdout, child.stderr])
      createInterface({ input: stream }).on('line', (line) => {
        lines.push(line);
        if (lines.length > 20) lines.shift();
        if (ready !== undefined && line.startsWith(ready)) resolve((performance.now() - begun) / 1_000);
      });
  });
  const exited = once(child, 'exit');
  // Whoever ends the bench ends them, before their folders go: as groups of their own they would not hear of it.
  const endAtOnce = () => signal('SIGKILL');
  process.prependOnceListener('exit', endAtOnce);
  return {
    readySeconds,
    said: () => lines.slice(-5).join(' | '),
    hasEnded: () => child.exitCode !== null || child.signalCode !== null,
    costs: () => costsOf(child.pid!),
    end: async () => {
      if (stop !== undefined) spawnSync(stop[0]!, stop.slice(1), { cwd: folder, env: ENV, stdio: 'ignore' });
      signal('SIGTERM');
      const late = setTimeout(() => signal('SIGKILL'), 10_000);
      await exited;
      clearTimeout(late);
      process.off('exit', endAtOnce);
      // What ignored the first signal after its parent had gone.
      signal('SIGKILL');
    },
  };

  function signal(name: NodeJS.Signals): void {
    try {
      process.kill(-child.pid!, name);
    } catch (error) {
      if ((error as NodeJS.ErrnoException).code !== 'ESRCH') throw error;
    }
  }
}

function costsOf(group: number): DaemonCosts {
  let [cpuSeconds, residentMb] = [0, 0];
  for (const pid of readdirSync('/proc').filter((name) => /^\d+$/.test(name))) {
    const fields = statOf(pid);
    // As in proc(5), counted from the field after the name: group 2, user 11, system 12, of ended children 13 and 14.
    if (fields === null || Number(fields[2]) !== group) continue;
    for (const i of [11, 12, 13, 14]) cpuSeconds += Number(fields[i]) / TICKS_PER_SECOND;
    residentMb += Number(fields[21]) * PAGE_MB;
  }
  return { cpuSeconds, residentMb };
}

function statOf(pid: string): string[] | null {
  try {
    const text = readFileSync(`/proc/${pid}/stat`, 'utf8');
    return text.slice(text.lastIndexOf(')') + 2).split(' ');
  } catch {
    return null;
  }
}
