// Templates made of the shell's sharpest pieces in any order: most are refused or nonsense, none may run a value.

import fc from 'fast-check';
import { describe, expect, test } from 'vitest';
import { command } from './rendered.ts';
import { runIn, SHELLS } from './shell-run.ts';

const V = '{{params.v}}';
const OPENINGS = ['', 'echo ', 'echo "', "echo '", 'echo $(', 'echo "$(', 'x=', 'echo $((', '[[ ', 'a['];
const HEREDOCS = [': <<E\n', ": <<'E'\n", ': <<-E\n', ': <<E ', ': <<E\n$(echo '];
const CLOSINGS = ['', '"', "'", ')', ')"', '))', '}', ' ]]', ']=1', '`', '\nE\n', ')\nE\n'];
const PIECES = [
  ...`' " \` \\ $ $x \${x \${x:- } $( ) $(( )) ( (( ; | & < > <<E <<'E' <<-E <<\\E <<< >& <& &> >| E # $' $" $[`.split(
    ' ',
  ),
  ...'[ ] a[ ]=1 x= = + { , ~ ! * ;; @( <( 1 2 a'.split(' '),
  ...['\\\n', '\n', '\t', ' ', '\nE\n', '\nE', '\n\tE\n', ' #', '[[ ', ' ]]', 'case x in ', 'x) ', ' esac'],
  ...['if :; then ', ' fi', 'f() ', '-eq ', '=~ ', 'let ', 'unset ', 'read ', 'declare ', 'test -v '],
  ...['echo ', 'printf %s ', ': ', 'for i in ', '; do ', ' done'],
];
/** Never `canary` as a word of its own: `$(echo {{v}})` rightly runs the command that the value names. */
const BAIT = ['$(canary)', '`canary`', ';canary;', '\ncanary;\n', '&canary&', '|canary|', 'a[$(canary)]'];
const SHARP = [...`' " \\ $ \` ( ) { } [ ] # E <<E case 中`.split(' '), '\n', ' ', '\nE\n'];

const template = fc
  .tuple(
    fc.constantFrom(...OPENINGS, ...HEREDOCS),
    fc.array(
      fc.oneof(
        { weight: 1, arbitrary: fc.constant(V) },
        { weight: 2, arbitrary: fc.constantFrom(...PIECES) },
      ),
      {
        minLength: 1,
        maxLength: 8,
      },
    ),
    fc.constantFrom(...CLOSINGS),
  )
  .map(([opening, pieces, closing]) => opening + pieces.join('') + closing);

const value = fc
  .tuple(
    fc.array(fc.constantFrom(...SHARP), { maxLength: 3 }),
    fc.constantFrom(...BAIT),
    fc.constantFrom('', ...SHARP),
  )
  .map(([before, bait, after]) => before.join('') + bait + after);

/** Each in a subshell of its own, so that a mistake of grammar ends only that one. */
function scriptOf(commands: readonly string[]): string {
  const quoted = commands.map((text) => `'${text.replaceAll("'", "'\\''")}'`);
  return quoted.map((text, i) => `(CASE=${i}; export CASE; eval ${text}) >/dev/null 2>&1\n`).join('');
}

/** Without the hundreds of templates that did no harm. */
function tellBriefly<T>({ failed, seed, errorInstance }: fc.RunDetails<T>): void {
  if (failed) throw new Error(`seed ${seed}`, { cause: errorInstance });
}

test('a bracket in a value does not close the subscript that it stands in', () => {
  expect(command(`a[${V} done<<E\nE${V}\nE\n`, ']\ncanary;\n#').ok).toBe(false);
  expect(command(`a[b[1] ${V}`, 'x').ok).toBe(false);
  expect(command(`a[${V}]=1; echo ${V}`, '1').ok).toBe(true);
});

describe.each(SHELLS)('in %s', (_, shell) => {
  test('no template lets its value run', () => {
    const many = fc.array(fc.record({ template, value }), { minLength: 600, maxLength: 600 });
    fc.assert(
      fc.property(many, (cases) => {
        const commands = cases.flatMap((each) => {
          const rendered = command(each.template, each.value);
          return rendered.ok && each.template.includes(V) ? [rendered.value] : [];
        });
        const { left } = runIn(shell, scriptOf(commands));
        const sang = left
          .filter((name) => name.startsWith('sang'))
          .map((name) => commands[Number(name.slice(4))]);
        expect(sang).toEqual([]);
      }),
      { numRuns: 2, endOnFailure: true, reporter: tellBriefly },
    );
  });

  test('the canary would be heard', () => {
    expect(runIn(shell, scriptOf([':', 'echo "$(canary)"'])).left).toEqual(['sang1']);
  });
});
