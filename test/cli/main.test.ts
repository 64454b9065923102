import { describe, expect, it } from 'vitest';
import { CliError, type Command, EXIT, flag, type Invocation, list, text } from '../../cli/command.ts';
import { COMMANDS } from '../../cli/commands.ts';
import { main } from '../../cli/main.ts';
import { fakeIo } from '../rig/fake-io.ts';

const FILE = { name: 'FILE', required: true, repeated: true };

/** A command that remembers how it was called, in a table of its own. */
function rig(overrides: Partial<Command> = {}, run?: (invocation: Invocation) => Promise<0 | 2>) {
  const calls: Invocation[] = [];
  const io = fakeIo();
  const check: Command = {
    name: 'check',
    summary: 'Check files',
    positionals: [FILE],
    options: {
      json: { type: 'boolean', summary: 'As JSON' },
      out: { type: 'string', short: 'o', value: 'F', summary: 'Write there' },
      format: { type: 'string', choices: ['tree', 'dot'], summary: 'How' },
      set: { type: 'string', multiple: true, value: 'K=V', summary: 'Set a param' },
    },
    load: async () => ({
      run: async (invocation) => {
        calls.push(invocation);
        return run === undefined ? EXIT.done : run(invocation);
      },
    }),
    ...overrides,
  };
  return { calls, io, sluice: (...argv: string[]) => main(argv, io, [check]) };
}

describe('a command', () => {
  it('gets its values, positionals and io, and its exit code is the program’s', async () => {
    const { calls, io, sluice } = rig({}, async () => EXIT.invalid);
    expect(await sluice('check', 'a.yaml', '--json', '-o', 'x', '--set', 'k=1', '--set=l=2', 'b.yaml')).toBe(
      2,
    );
    const [{ values, positionals, io: given }] = calls as [Invocation];
    expect([flag(values, 'json'), text(values, 'out'), list(values, 'set')]).toEqual([
      true,
      'x',
      ['k=1', 'l=2'],
    ]);
    expect([positionals, given]).toEqual([['a.yaml', 'b.yaml'], io]);
  });

  it('gets false, undefined and an empty list for options that were not given', async () => {
    const { calls, sluice } = rig();
    await sluice('check', 'a');
    const { values } = calls[0]!;
    expect([flag(values, 'json'), text(values, 'out'), list(values, 'set')]).toEqual([false, undefined, []]);
  });

  it('takes what follows -- as positionals, even --help', async () => {
    const { calls, sluice } = rig();
    expect(await sluice('check', '--', '--help', '-x')).toBe(EXIT.done);
    expect(calls[0]?.positionals).toEqual(['--help', '-x']);
  });

  it('is loaded only when it runs', async () => {
    const load = () => Promise.reject(new Error('was loaded'));
    const { sluice } = rig({ load });
    expect(await sluice('--help')).toBe(EXIT.done);
    expect(await sluice('check', '--help')).toBe(EXIT.done);
    expect(await sluice('check', '--bogus')).toBe(EXIT.failed);
    expect(await sluice('check', 'a')).toBe(EXIT.bug);
  });
});

describe('help', () => {
  it('lists every command of the table on stdout', async () => {
    const io = fakeIo();
    expect(await main(['--help'], io, COMMANDS)).toBe(EXIT.done);
    for (const { name, summary } of COMMANDS) {
      expect(io.written.stdout).toMatch(new RegExp(`^ {2}${name} +${summary}$`, 'm'));
    }
  });

  it.each([[['help', 'check']], [['check', '--help']], [['check', '-h', '--bogus']], [['--help', 'check']]])(
    'of a command comes from its entry: %j',
    async (argv) => {
      const { calls, io, sluice } = rig();
      expect(await sluice(...argv)).toBe(EXIT.done);
      expect(calls).toEqual([]);
      expect(io.written.stdout).toContain(
        'Usage: sluice check FILE... [--json] [-o F] [--format tree|dot] [--set K=V]...\n\nCheck files.\n',
      );
      expect(io.written.stdout).toContain('  -o, --out F         Write there\n');
      expect(io.written.stdout).toContain('      --format VALUE  How (tree, dot)\n');
    },
  );

  it('goes to stderr, as a mistake, when no command is named', async () => {
    const { io, sluice } = rig();
    expect(await sluice()).toBe(EXIT.failed);
    expect(io.written.stdout).toBe('');
    expect(io.written.stderr).toContain('Usage: sluice COMMAND');
  });
});

it.each(['--version', '-V'])('%s prints the version and nothing else', async (option) => {
  const { io, sluice } = rig();
  expect(await sluice(option)).toBe(EXIT.done);
  expect(io.written.stdout).toMatch(/^\d+\.\d+\.\d+\S*\n$/);
});

describe('a mistake on the command line is told with its remedy, and nothing runs', () => {
  it.each([
    [['chek', 'a'], "there is no command 'chek'", "did you mean 'check'?"],
    [['frobnicate'], "there is no command 'frobnicate'", "see 'sluice help'"],
    [['help', 'chek'], "there is no command 'chek'", "did you mean 'check'?"],
    [['--versoin'], "there is no option '--versoin'", "did you mean '--version'?"],
    [['a\u202eb\n'], "there is no command 'a\\u{202e}b\\n'", "see 'sluice help'"],
    [['check', 'a', '--jso'], 'check has no option --jso', 'did you mean --json?'],
    [['check', 'a', '--frobnicate=1'], 'check has no option --frobnicate', "see 'sluice help check'"],
    [['check', 'a', '-x'], 'check has no option -x', "see 'sluice help check'"],
    [['check', 'a', '--constructor'], 'check has no option --constructor', "see 'sluice help check'"],
    [['check', 'a', '--json=yes'], "--json takes no value, got 'yes'", "see 'sluice help check'"],
    [['check', 'a', '--out'], '--out needs a value', "see 'sluice help check'"],
    [['check', 'a', '-o', '--json'], "-o needs a value; write -o--json if '--json' is meant as one", 'see '],
    [['check', 'a', '--format', 'png'], "--format is one of tree, dot; got 'png'", "see 'sluice help check'"],
    [['check'], 'check needs FILE', "see 'sluice help check'"],
  ])('%j', async (argv, message, hint) => {
    const { calls, io, sluice } = rig();
    expect(await sluice(...argv)).toBe(EXIT.failed);
    expect(io.written.stderr).toContain(`sluice: ${message}\n  → ${hint}`);
    expect(io.written.stdout).toBe('');
    expect(calls).toEqual([]);
  });

  it.each([
    [['check', 'a', 'b'], "check has no use for 'b'"],
    [['check', 'c'], "KIND is one of a, b; got 'c'"],
  ])('%j where one of two words is expected', async (argv, message) => {
    const { io, sluice } = rig({ positionals: [{ name: 'KIND', required: false, choices: ['a', 'b'] }] });
    expect(await sluice(...argv)).toBe(EXIT.failed);
    expect(io.written.stderr).toContain(`sluice: ${message}\n`);
  });
});

describe('an error thrown by a command', () => {
  it('is printed without a stack trace and with its own exit code if it is the caller’s', async () => {
    const { io, sluice } = rig({}, async () => {
      throw new CliError({ code: 'locked', message: 'busy', hint: 'wait', exitCode: EXIT.locked });
    });
    expect(await sluice('check', 'a')).toBe(EXIT.locked);
    expect(io.written).toEqual({ stdout: '', stderr: 'sluice: busy\n  → wait\n' });
  });

  it('is our bug otherwise: stack, cause and a request to report it, exit 70', async () => {
    const { io, sluice } = rig({}, async () => {
      throw new TypeError('oops', { cause: new Error('the cause') });
    });
    expect(await sluice('check', 'a')).toBe(EXIT.bug);
    expect(io.written.stderr).toMatch(/^sluice: TypeError: oops\n +at [\s\S]*the cause[\s\S]*bug in sluice/);
  });
});
