// `sluice doctor`: what Sluice needs of this machine, of its project and of a control plane, and what to do about it.

import { existsSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { projectRootOf } from '../host/project-root.ts';
import { EXIT, type ExitCode, flag, type Invocation, type Io, text, type Values } from './command.ts';
import { apiUrl, readToken } from './control-plane.ts';
import { isSteady, judgeClock } from './doctor/clock.ts';
import { checkControlPlane } from './doctor/control-plane.ts';
import { checkDatabase } from './doctor/database.ts';
import { checkDisks } from './doctor/disk.ts';
import type { Finding } from './doctor/finding.ts';
import { judgeInotify, readInotify } from './doctor/inotify.ts';
import { checkGit, checkHashing, checkNode, checkShell } from './doctor/programs.ts';
import { checkWorkflows } from './doctor/workflows.ts';
import { renderFindings } from './render/doctor.ts';

declare const SLUICE_VERSION: string;

export async function run({ values, positionals, io }: Invocation): Promise<ExitCode> {
  const begun = { nowMs: Date.now(), steadyMs: performance.now() };
  const workflows = await checkWorkflows(positionals, io);
  const project = projectRootOf(workflows.roots[0] ?? io.cwd);
  const database = await checkDatabase(project, text(values, 'db'), io);
  const inotify = readInotify({
    neededWatches: workflows.directories,
    isKept: database.ownerUrl !== null,
  });
  const asked = await checkAsked(values, { project, ownerUrl: database.ownerUrl }, io);
  const findings: Finding[] = [
    checkNode(process.versions.node),
    checkHashing(),
    checkShell(io),
    checkGit(io, project),
    ...checkDisks([project, ...workflows.roots]),
    workflows.finding,
    ...(inotify === null ? [] : judgeInotify(inotify)),
    ...database.findings,
    ...(asked?.findings ?? []),
    judgeClock({
      nowMs: Date.now(),
      wentMs: Date.now() - begun.nowMs,
      steadyMs: performance.now() - begun.steadyMs,
      isSteady: isSteady(() => performance.now()),
      aheadMs: asked?.aheadMs ?? null,
    }),
  ];
  io.stdout.write(renderFindings(findings, io, flag(values, 'json')));
  return findings.some(({ status }) => status === 'fail') ? EXIT.failed : EXIT.done;
}

/** The control plane that was named, else the process that keeps the project. */
async function checkAsked(
  values: Values,
  { project, ownerUrl }: { readonly project: string; readonly ownerUrl: string | null },
  io: Io,
) {
  const api = apiUrl(values);
  const version = SLUICE_VERSION;
  if (api !== undefined) return checkControlPlane({ url: api, token: readToken(values, io), version });
  if (ownerUrl === null) return null;
  const file = join(project, '.sluice', 'admin-token');
  const token = existsSync(file) ? readFileSync(file, 'utf8').trim() : undefined;
  return checkControlPlane({ url: ownerUrl, token, version });
}
