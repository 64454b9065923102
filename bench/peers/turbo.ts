// turbo: one task of the root package for each file. Watching leaves to make which files to make, as with wireit.

import { writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { MAKE, writeMakefile } from './make.ts';
import { JOBS, links, npmVersionOf, type Peer, run, type Watching, writeJson } from './peer.ts';

interface Task {
  readonly name: string;
  readonly command: string;
  readonly turbo: object;
}

export function turbo(): Peer {
  const version = npmVersionOf('turbo');
  return {
    ...{ name: 'turbo', role: 'peer', version, isSlow: true },
    // It starts npm for every task.
    upTo: { cold: 100, 'chain cold': 1, 'chain nothing to do': 1, 'all touched': 0, other: 1_000 },
    each: (folder, names) => {
      const tasks = names.map((name) => taskOf(`make-${name}`, `in/${name}`, `out/${name}`, []));
      writeTasks(
        folder,
        tasks,
        tasks.map(({ name }) => name),
      );
    },
    chain: (folder) => {
      const before = (link: number) => (link === 0 ? [] : [`link-${link}`]);
      const tasks = links().map(([from, to]) =>
        taskOf(`link-${to}`, `link/${from}`, `link/${to}`, before(from)),
      );
      writeTasks(folder, tasks, [tasks.at(-1)!.name]);
    },
    command: () => ['turbo', 'run', 'all', `--concurrency=${JOBS}`, '--output-logs=none', '--no-daemon'],
    state: ['.turbo'],
    adopt: null,
    watching: version === null ? [] : [watch()],
  };
}

function taskOf(name: string, from: string, to: string, dependsOn: readonly string[]): Task {
  return { name, command: `cat ${from} > ${to}`, turbo: { inputs: [from], outputs: [to], dependsOn } };
}

function writeTasks(folder: string, tasks: readonly Task[], goals: readonly string[]): void {
  const all: Task = { name: 'all', command: ':', turbo: { dependsOn: goals } };
  const each = [...tasks, all];
  writeRepository(folder, Object.fromEntries(each.map(({ name, command }) => [name, command])));
  writeJson(folder, 'turbo.json', { tasks: Object.fromEntries(each.map((task) => [task.name, task.turbo])) });
}

/** It goes by what git knows. */
function writeRepository(folder: string, scripts: object): void {
  writeJson(folder, 'package.json', { name: 'bench', private: true, packageManager: 'npm@10.0.0', scripts });
  writeJson(folder, 'package-lock.json', { name: 'bench', lockfileVersion: 3, packages: {} });
  writeFileSync(join(folder, '.gitignore'), 'out\nlink/*\n!link/0\n.turbo\nnode_modules\n');
  run(['git', 'init', '-q'], folder);
}

function watch(): Watching {
  return {
    ...{ name: 'turbo watch', upTo: 10_000 },
    prepare: (folder) => {
      writeMakefile(folder);
      writeRepository(folder, { copy: MAKE.join(' ') });
      writeJson(folder, 'turbo.json', { tasks: { copy: { inputs: ['in/**', 'Makefile'], cache: false } } });
    },
    command: ['turbo', 'watch', 'copy', '--ui', 'stream'],
    stop: ['turbo', 'daemon', 'stop'],
  };
}
