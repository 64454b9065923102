// `sluice service install|uninstall|status`: keeps `up`, `watch` or `work` running by systemd, or prints it for launchd.

import { spawnSync } from 'node:child_process';
import {
  CliError,
  type Command,
  type CommandModule,
  EXIT,
  type ExitCode,
  flag,
  type Invocation,
  text,
} from './command.ts';
import { renderInstalled, renderServices, renderUninstalled } from './render/service.ts';
import { launchdPlist } from './service/launchd-plist.ts';
import { nameOf, planService } from './service/service-plan.ts';
import { systemdUnit } from './service/systemd-unit.ts';
import { removeUnit, unitPath, unitsOfOurs, writeUnit } from './service/unit-files.ts';

/** The table of commands hands over what can be kept running. */
export function serviceOf(commands: readonly Command[]): CommandModule {
  return {
    run: async (invocation) => {
      switch (invocation.positionals[0]) {
        case 'install':
          return install(invocation, commands);
        case 'uninstall':
          return uninstall(invocation);
        default:
          return status(invocation);
      }
    },
  };
}

function install({ values, positionals, io }: Invocation, commands: readonly Command[]): ExitCode {
  const [, what = 'up', ...args] = positionals;
  const plan = planService({ what, args, commands, asked: text(values, 'name') }, io);
  const isLaunchd = flag(values, 'launchd') || process.platform === 'darwin';
  if (isLaunchd || flag(values, 'print')) {
    io.stdout.write(isLaunchd ? launchdPlist(plan) : systemdUnit(plan));
    if (isLaunchd)
      io.stderr.write(
        `save it as ~/Library/LaunchAgents/${plan.name}.plist; next: launchctl load -w that file\n`,
      );
    return EXIT.done;
  }
  const became = writeUnit(plan.name, systemdUnit(plan), io);
  const installed = { name: plan.name, file: unitPath(plan.name, io), became };
  io.stdout.write(renderInstalled(installed, flag(values, 'json')));
  return EXIT.done;
}

function uninstall({ values, positionals, io }: Invocation): ExitCode {
  const [, what = 'up'] = positionals;
  const name = nameOf(what, text(values, 'name'), io.cwd);
  const file = removeUnit(name, io);
  io.stdout.write(renderUninstalled({ name, file }, flag(values, 'json')));
  return EXIT.done;
}

function status({ values, positionals, io }: Invocation): ExitCode {
  if (positionals.length > 1) {
    throw new CliError({
      code: 'extra-argument',
      message: 'service status tells of all services',
      hint: 'leave out what follows',
    });
  }
  const services = unitsOfOurs(io).map((unit) => ({ ...unit, state: stateOf(unit.name) }));
  io.stdout.write(renderServices(services, flag(values, 'json')));
  return EXIT.done;
}

/** In systemd's words; null where systemd cannot be asked, as in a container. */
function stateOf(name: string): string | null {
  const { stdout } = spawnSync('systemctl', ['--user', 'is-active', `${name}.service`], { encoding: 'utf8' });
  const word = stdout?.trim() ?? '';
  return word === '' ? null : word;
}
