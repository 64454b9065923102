// `sluice service`: the files that it writes are what systemd takes them for, and nobody else's are touched.

import { spawnSync } from 'node:child_process';
import { existsSync, mkdirSync, readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { describe, expect, test } from 'vitest';
import { PROGRAM, runSluice, temporaryFolder } from '../rig/cli.ts';

const UNIT = 'config/systemd/user/sluice-up-a-b-h.service';

/** A directory whose name is as awkward as a path may be, with a home of its own beside it. */
function awkward(files: Readonly<Record<string, string>> = {}) {
  const home = temporaryFolder(files);
  const cwd = join(home, `a b%h`);
  mkdirSync(cwd);
  const env = { HOME: home, XDG_CONFIG_HOME: join(home, 'config') };
  return {
    home,
    cwd,
    service: (...args: string[]) => runSluice(['service', ...args], { cwd, env }),
    unit: () => readFileSync(join(home, UNIT), 'utf8'),
  };
}

const WORDS = ['--port', '9000', 'x $HOME %h "q" \\ y;', ';'];

/** What systemd itself makes of a unit. */
function readBySystemd(home: string) {
  const { status, stdout, stderr } = spawnSync('systemd-analyze', ['verify', '--user', join(home, UNIT)], {
    env: { ...process.env, SYSTEMD_LOG_LEVEL: 'debug', XDG_RUNTIME_DIR: home, SYSTEMD_COLORS: '0' },
    encoding: 'utf8',
  });
  const of = (key: string) => new RegExp(`^\\s*${key}: (.*)$`, 'm').exec(stdout)?.[1];
  return {
    status,
    ignored: stderr.match(/.*ignoring.*sluice-up.*|.*sluice-up.*ignoring.*/g) ?? [],
    directory: of('WorkingDirectory'),
    command: of('Command Line'),
  };
}

describe('service install', () => {
  test('writes a unit with absolute paths, and says what to type', async () => {
    const { cwd, service, unit, home } = awkward();
    const { code, stdout, stderr } = await service('install', 'up', '--', '--port', '9000', 'p.yaml');
    expect({ code, stderr }).toEqual({ code: 0, stderr: '' });
    expect(stdout).toContain(`new: ${join(home, UNIT)}`);
    expect(stdout).toContain('systemctl --user enable --now sluice-up-a-b-h\n');
    const text = unit();
    expect(text).toContain(`ExecStart=":${process.execPath}" "${PROGRAM}" "up" "--port" "9000" "p.yaml"\n`);
    expect(text).toContain(`WorkingDirectory=${cwd.replace('%', '%%')}\n`);
    for (const line of [
      'Restart=on-failure',
      'KillMode=mixed',
      'KillSignal=SIGTERM',
      'WantedBy=default.target',
    ])
      expect(text).toContain(`\n${line}\n`);
    expect((await service('install', 'up', '--', '--port', '9000', 'p.yaml')).stdout).toMatch(/^unchanged: /);
    expect((await service('install')).stdout).toMatch(
      /^changed: [\s\S]*systemctl --user restart sluice-up-a-b-h/,
    );
  });

  test.skipIf(spawnSync('systemd-analyze', ['--version']).status !== 0)(
    'is read by systemd as it was meant, whatever is in the words and the path',
    async () => {
      const { home, cwd, service } = awkward();
      await service('install', 'up', '--', ...WORDS);
      const told = readBySystemd(home);
      expect(told).toMatchObject({ status: 0, ignored: [], directory: cwd });
      // Quoted by systemd once more, in its own way.
      const words = `up --port 9000 "x \\$HOME %h \\"q\\" \\\\ y;" ";"`;
      expect(told.command).toBe(`${process.execPath} ${PROGRAM} ${words}`);
    },
  );

  test('goes to ~/.config where XDG_CONFIG_HOME is not set, or is not absolute', async () => {
    const home = temporaryFolder();
    for (const env of [{ HOME: home }, { HOME: home, XDG_CONFIG_HOME: 'relative' }] as Record<
      string,
      string
    >[])
      await runSluice(['service', 'install', '--name', 'mine'], { cwd: home, env });
    expect(existsSync(join(home, '.config/systemd/user/mine.service'))).toBe(true);
    expect(existsSync(join(home, 'relative'))).toBe(false);
  });

  test('--print and --launchd write nothing but to stdout', async () => {
    const { cwd, home, service } = awkward();
    const unit = await service('install', 'up', '--print');
    expect(unit.stdout).toContain('[Service]\n');
    const { stdout } = await service('install', 'up', '--launchd', '--', '<&>.yaml');
    expect(stdout).toContain('<key>Label</key>\n  <string>sluice-up-a-b-h</string>');
    expect(stdout).toContain('    <string>up</string>\n    <string>&lt;&amp;&gt;.yaml</string>\n');
    expect(stdout).toContain(`<string>${cwd}</string>`);
    expect(existsSync(join(home, 'config'))).toBe(false);
  });

  const token = `sluice_${'x'.repeat(43)}`;
  test.each([
    ['a token among the words', ['install', 'up', '--', token], '--token-file'],
    ['a password in a URL', ['install', 'up', '--', 'https://me:secret@example.org'], '--token-file'],
    ['an option of the command that is none', ['install', 'up', '--', '--prot', '1'], 'did you mean --port?'],
    [
      'an option without the dashes before it',
      ['install', 'up', '--port', '1'],
      'service has no option --port',
    ],
    ['what cannot be kept running', ['install', 'run'], 'WHAT is one of up, watch, work'],
    ['a name that is a path', ['install', '--name', '../x'], 'cannot be the name of a service'],
    ['a word that no unit can hold', ['install', 'up', '--', 'a\nb.yaml'], 'must be renamed'],
    ['a name that is not installed', ['uninstall', '--name', 'other'], 'there is no'],
  ])('%s is refused, and nothing is written', async (_, args, said) => {
    const { home, service } = awkward();
    const { code, stdout, stderr } = await service(...args);
    expect({ code, stdout }).toEqual({ code: 1, stdout: '' });
    expect(stderr).toContain(said);
    expect(stderr).toContain('→');
    expect(stderr).not.toContain(token);
    expect(existsSync(join(home, 'config'))).toBe(false);
  });

  test("neither another directory's service nor another program's file is written over or removed", async () => {
    const { home, cwd, service, unit } = awkward();
    await service('install', '--name', 'mine');
    const env = { HOME: home, XDG_CONFIG_HOME: join(home, 'config') };
    const elsewhere = await runSluice(['service', 'install', '--name', 'mine'], { cwd: home, env });
    expect(elsewhere).toMatchObject({ code: 1, stderr: expect.stringContaining(`for ${cwd} already`) });
    writeFileSync(join(home, UNIT), '[Unit]\n');
    for (const action of ['install', 'uninstall'])
      expect(await service(action)).toMatchObject({
        code: 1,
        stderr: expect.stringContaining('was not written by sluice'),
      });
    expect(unit()).toBe('[Unit]\n');
  });
});

test('service status lists what is installed, and uninstall takes it away', async () => {
  const { home, cwd, service } = awkward();
  expect((await service('status')).stdout).toMatch(/^No service is installed/);
  await service('install');
  const { services } = JSON.parse((await service('status', '--json')).stdout);
  expect(services).toMatchObject([{ name: 'sluice-up-a-b-h', directory: cwd, file: join(home, UNIT) }]);
  expect((await service('uninstall')).stdout).toContain('systemctl --user stop sluice-up-a-b-h');
  expect(existsSync(join(home, UNIT))).toBe(false);
});
