// `npm run bench:profile`: where the time of `sluice run` goes, by source file, and which system calls it makes. As
// Markdown, for docs/performance.md.
//
//   --entities 10000   so many, for a run with nothing to do and with one changed file
//   --cold 1000        so many for a cold run

import { mkdirSync, readdirSync, readFileSync } from 'node:fs';
import { basename, join } from 'node:path';
import { parseArgs } from 'node:util';
import { measureCommand } from './measure/command.ts';
import { tellMachine } from './measure/machine.ts';
import { inPlaces, remove } from './measure/places.ts';
import { isOnPath } from './peers/peer.ts';
import { sluice } from './peers/sluice.ts';
import { type Profile, selfTimes } from './profile/self-times.ts';
import { createFolder, fillOutputs, forget } from './workloads/folder.ts';
import { WORKLOADS } from './workloads/workloads.ts';

const { values } = parseArgs({
  options: {
    entities: { type: 'string', default: '10000' },
    cold: { type: 'string', default: '1000' },
  },
});
const ROWS = 14;
const CALLS = 8;

tellMachine();
await inPlaces(async ({ scratch, program }) => {
  const own = sluice(program);
  const command = own.command('each').slice(1);
  for (const name of ['nothing to do', 'one changed', 'cold'] as const) {
    const size = Number(name === 'cold' ? values.cold : values.entities);
    const folder = join(scratch, name.replaceAll(' ', '-'));
    const work = WORKLOADS.find((each) => each.name === name)!;
    const again = (times: number) => {
      for (let i = 0; i < times; i++) measureCommand(own.command('each'), folder);
    };
    createFolder(folder, 'each', size);
    fillOutputs(folder, 'each');
    own.each(folder, []);
    if (work.isSettled) measureCommand(own.adopt!, folder);
    else forget(folder, 'each', own);
    const disturb = (nth: number) => {
      if (work.isSettled) again(2);
      work.disturb(folder, own, nth);
    };
    disturb(0);
    const profiles = `${folder}.profiles`;
    mkdirSync(profiles);
    const flags = ['--cpu-prof', '--cpu-prof-interval', '200', '--cpu-prof-dir', profiles];
    const { seconds } = measureCommand([process.execPath, ...flags, ...command], folder);
    tellProfile(`${name}, ${size.toLocaleString('en')} entities`, seconds, profiles);
    disturb(1);
    if (isOnPath('strace')) tellCalls(folder, [process.execPath, ...command]);
    else console.log('strace: missing');
    remove(folder);
  }
});

/** The one of the process itself is the largest: what it starts on Node has its own. */
function tellProfile(title: string, seconds: number, folder: string): void {
  const profiles = readdirSync(folder).map((name) => readFileSync(join(folder, name), 'utf8'));
  const [largest] = profiles.sort((a, b) => b.length - a.length);
  const times = selfTimes(JSON.parse(largest!) as Profile);
  const total = [...times.values()].reduce((sum, ms) => sum + ms, 0);
  console.log(`\n**${title}**: ${(seconds * 1_000).toFixed(0)} ms with the profiler\n`);
  console.log('| self time | | where |\n|--:|--:|---|');
  for (const [where, ms] of [...times].sort(([, a], [, b]) => b - a).slice(0, ROWS))
    console.log(`| ${ms.toFixed(0)} ms | ${((ms / total) * 100).toFixed(0)} % | ${where} |`);
}

/** Of all its processes and threads. */
function tellCalls(folder: string, command: readonly string[]): void {
  const report = `${folder}.calls`;
  measureCommand(['strace', '-f', '-c', '-U', 'calls,name', '-S', 'calls', '-o', report, ...command], folder);
  const lines = readFileSync(report, 'utf8').split('\n').slice(2);
  const calls = lines.map((line) => line.trim().split(/\s+/)).filter(([count]) => /^\d+$/.test(count ?? ''));
  const told = calls.slice(0, CALLS).map(([count, name]) => `${name} ${Number(count).toLocaleString('en')}`);
  console.log(`\nSystem calls (${basename(folder)}): ${told.join(', ')}`);
}
