// A runner to be killed: starts one command and says its process group once it runs, or dies before it may run.

import { openJournal } from '../../runner/journal.ts';
import { launchScript } from '../../runner/launch-script.ts';
import { createSupervisor, findShells } from '../../runner/supervisor.ts';

const [workDir, journalFile, mode] = process.argv.slice(2) as [
  string,
  string,
  'reused' | 'single' | 'die-first',
];

const journal = openJournal(journalFile);
const shells = mode === 'single' ? { ...findShells(), tellsOthers: false } : findShells();
const supervisor = createSupervisor(
  {
    ...journal,
    started(group) {
      journal.started(group);
      if (mode === 'die-first') process.kill(process.pid, 'SIGKILL');
    },
  },
  shells,
);
const env = { PATH: process.env.PATH!, SLUICE_WORK_DIR: workDir };
const { sh } = supervisor;
const command = { kind: 'shell', script: '' } as const;
supervisor.start(launchScript({ command, cwd: workDir, env, workDir, hasStdin: false, sh }), workDir);
