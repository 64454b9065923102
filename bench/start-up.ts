// `npm run bench:start-up`: what the program costs before it does anything: time, memory, and room on the disk.
//
//   --quick   fewer rounds

import { execFileSync } from 'node:child_process';
import { lstatSync, readdirSync } from 'node:fs';
import { join, relative } from 'node:path';
import { measureCommand } from './measure/command.ts';
import { type Contender, contest, tellRows } from './measure/contest.ts';
import { keepResults, tellMachine } from './measure/machine.ts';
import { inPlaces } from './measure/places.ts';
import { sluice } from './peers/sluice.ts';
import { createFolder, fillOutputs } from './workloads/folder.ts';

const quick = process.argv.includes('--quick');
const repetitions = quick ? 9 : 31;
const ENTITIES = 10;

tellMachine();
const rows = await inPlaces(async ({ scratch, program }) => {
  const own = sluice(program);
  // Each its own folder: what one of them remembers, another may remove.
  const command = (name: string, args: readonly string[]): Contender => {
    const folder = join(scratch, name.replaceAll(/\W+/g, '-'));
    createFolder(folder, 'each', ENTITIES);
    fillOutputs(folder, 'each');
    own.each(folder, []);
    for (const each of [own.adopt!, own.command('each'), own.command('each')]) measureCommand(each, folder);
    return {
      ...{ name, version: process.version, role: args[0] === program ? 'ours' : 'floor' },
      act: () => measureCommand([process.execPath, ...args], folder),
    };
  };
  const contenders = [
    command('node -e 0', ['-e', '0']),
    command('sluice --version', [program, '--version']),
    command('sluice run, nothing to do', [program, 'run', 'p.yaml']),
    command('sluice validate', [program, 'validate', 'p.yaml']),
    command('sluice status', [program, 'status', 'p.yaml']),
  ];
  return contest({ workload: 'start-up', size: ENTITIES, contenders, repetitions });
});
tellRows(`start-up, with a workflow of ${ENTITIES} entities`, rows);

const facts = installedMb();
for (const [name, megabytes] of Object.entries(facts)) console.log(`${name}: ${megabytes.toFixed(1)}`);
keepResults('start-up', { quick, rows, facts });

/** As `npm install sluice` leaves it: what is packed, and all it depends on, with the binaries of this platform. */
function installedMb(): Record<string, number> {
  const ask = (...args: string[]) =>
    execFileSync('npm', args, { encoding: 'utf8', stdio: ['ignore', 'pipe', 'ignore'] });
  const [packed] = JSON.parse(ask('pack', '--dry-run', '--json')) as [{ unpackedSize: number; size: number }];
  const [, ...dependencies] = ask('ls', '--omit=dev', '--all', '--parseable').trim().split('\n');
  const own = packed.unpackedSize / 1e6;
  // One may lie inside another, whose size has it already.
  const tops = dependencies.filter((path) => !relative('node_modules', path).includes('node_modules'));
  const others = tops.reduce((sum, path) => sum + bytesIn(path), 0) / 1e6;
  return {
    'package to download, MB': packed.size / 1e6,
    'package unpacked, MB': own,
    'dependencies, MB': others,
    'install, MB': own + others,
  };
}

function bytesIn(folder: string): number {
  return readdirSync(folder, { recursive: true, encoding: 'utf8' })
    .map((name) => lstatSync(join(folder, name)))
    .reduce((sum, stat) => sum + (stat.isFile() ? stat.size : 0), 0);
}
