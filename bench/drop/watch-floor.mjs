// The least that keeps out/ made from in/: fs.watch, and one shell per file that changed, two at a time.

import { spawn } from 'node:child_process';
import { watch } from 'node:fs';

const JOBS = 2;
const waiting = new Set();
const running = new Set();

watch('in', (_, name) => {
  waiting.add(name);
  startWaiting();
});

function startWaiting() {
  for (const name of waiting) {
    if (running.size >= JOBS) return;
    // Changed again while it is made: its turn comes when that has ended.
    if (running.has(name)) continue;
    waiting.delete(name);
    running.add(name);
    spawn('sh', ['-c', 'cat "in/$1" > "out/$1"', 'sh', name], { stdio: 'ignore' }).on('close', () => {
      running.delete(name);
      startWaiting();
    });
  }
}
