// One watching program as a process group: started, asked what it costs, ended.

import { spawn, spawnSync } from 'node:child_process';
import { once } from 'node:events';
import { readdirSync, readFileSync } from 'node:fs';
import { createInterface } from 'node:readline';

const TICKS_PER_SECOND = 100;
const PAGE_MB = 4_096 / 2 ** 20;

export function startDaemon({ command: [program, ...args], ready, stop }, folder) {
  const begun = performance.now();
  const env = {
    PATH: process.env.PATH,
    HOME: process.env.HOME,
    LANG: 'C.UTF-8',
    TURBO_TELEMETRY_DISABLED: '1',
  };
  // A group of its own, so that what it started ends with it.
  const child = spawn(program, args, {
    cwd: folder,
    env,
    detached: true,
    // Some end when their input does.
    stdio: ['pipe', 'pipe', 'pipe'],
  });
  const lines = [];
  const readySeconds = new Promise((resolve) => {
    for (const stream of [child.stdout, child.stderr])
      createInterface({ input: stream }).on('line', (line) => {
        lines.push(line);
        if (lines.length > 20) lines.shift();
        if (ready !== undefined && line.startsWith(ready)) resolve((performance.now() - begun) / 1_000);
      });
  });
  const exited = once(child, 'exit');
  return {
    readySeconds,
    said: () => lines.slice(-5).join(' | '),
    hasEnded: () => child.exitCode !== null || child.signalCode !== null,
    costs: () => costsOf(child.pid),
    end: async () => {
      if (stop !== undefined) spawnSync(stop[0], stop.slice(1), { cwd: folder, env, stdio: 'ignore' });
      signal('SIGTERM');
      const late = setTimeout(() => signal('SIGKILL'), 10_000);
      await exited;
      clearTimeout(late);
      // What ignored the first signal after its parent had gone.
      signal('SIGKILL');
    },
  };

  function signal(name) {
    try {
      process.kill(-child.pid, name);
    } catch (error) {
      if (error.code !== 'ESRCH') throw error;
    }
  }
}

/** CPU seconds until now and megabytes resident, of all processes of the group. */
function costsOf(group) {
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

function statOf(pid) {
  try {
    const text = readFileSync(`/proc/${pid}/stat`, 'utf8');
    return text.slice(text.lastIndexOf(')') + 2).split(' ');
  } catch {
    return null;
  }
}
