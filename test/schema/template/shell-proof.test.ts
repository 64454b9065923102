// Real shells decide here: whatever a value holds, a command gets exactly that value and nothing else runs.

import fc from 'fast-check';
import { describe, expect, test } from 'vitest';
import type { Scope } from '../../../schema/template/evaluate.ts';
import { renderShell } from '../../../schema/template/render-shell.ts';
import { codesOf, command, parsed, SCOPE } from './rendered.ts';
import { runIn, SHELLS } from './shell-run.ts';

const V = '{{params.v}}';
const HARMS = ['ends-heredoc', 'lost-in-heredoc'];
const PRINT = `printf '%s\\000'`;
const END = `printf '\\000'`;
/** There is no cat among the shells' own commands. */
const READ = `IFS= read -r first; printf '%s\\n' "$first"; while IFS= read -r line; do printf '%s\\n' "$line"; done`;
const body = (opening: string, text: string) => `{ ${READ}; } ${opening}\n${text}\nThe-End\n${END}`;

/** Every place, what it prints for a value, and the reasons for which it may refuse one. */
const PLACES: readonly [name: string, source: string, prints: (v: string) => string, refusals?: string[]][] =
  [
    ['bare', `${PRINT} ${V}`, (v) => v],
    ['bare, within a word', `${PRINT} a${V}b`, (v) => `a${v}b`],
    ['bare, after #', `${PRINT} a#${V}`, (v) => `a#${v}`],
    ['bare, twice', `${PRINT} ${V}${V}`, (v) => v + v],
    ['bare, after a name', `n=N; ${PRINT} $n${V}`, (v) => `N${v}`],
    ['bare, after a closed name', `n=N; ${PRINT} \${n}${V}`, (v) => `N${v}`],
    ['assignment', `x=${V}; ${PRINT} "$x"`, (v) => v],
    ['assignment, in quotes', `x="${V}"; ${PRINT} "$x"`, (v) => v],
    ['double', `${PRINT} "${V}"`, (v) => v],
    ['double, within text', `${PRINT} "'${V}'$(:)\\$"`, (v) => `'${v}'$`],
    ['double, after a name', `n=N; ${PRINT} "$n${V}"`, (v) => `N${v}`],
    ['single', `${PRINT} '${V}'`, (v) => v],
    ['single, within text', `${PRINT} '"${V}\\'`, (v) => `"${v}\\`],
    ['mixed', `${PRINT} ${V}"${V}"'${V}'`, (v) => v + v + v],
    ['$( ), bare', `${PRINT} "$(printf %s ${V}; printf .)"`, (v) => `${v}.`],
    ['$( ), double', `${PRINT} "$(printf %s "${V}"; printf .)"`, (v) => `${v}.`],
    ['$( ), single', `${PRINT} "$(printf %s '${V}'; printf .)"`, (v) => `${v}.`],
    ['$( ) in $( )', `${PRINT} "$(printf %s "$(printf %s ${V}; printf .)")"`, (v) => `${v}.`],
    ['subshell', `(${PRINT} ${V})`, (v) => v],
    ['for', `for i in ${V}; do ${PRINT} "$i"; done`, (v) => v],
    ['case', `case ${V} in "${V}") ${PRINT} '${V}';; *) exit;; esac`, (v) => v],
    ['case pattern', `x=${V}; case $x in ${V}) ${PRINT} same;; esac`, () => 'same'],
    ['test', `if [ ${V} = "${V}" ]; then ${PRINT} same; fi`, () => 'same'],
    ['comment', `: # ${V}\n${PRINT} next`, () => 'next'],
    ['after a heredoc', `: <<'The-End'\n'"\nThe-End\n${PRINT} ${V}`, (v) => v],
    ['heredoc', body('<<The-End', V), (v) => `${v}\n`, [...HARMS]],
    ['heredoc, within text', body('<<The-End', `"'${V}'"`), (v) => `"'${v}'"\n`, [...HARMS]],
    ['heredoc, quoted', body("<<'The-End'", V), (v) => `${v}\n`, [...HARMS]],
    ['heredoc, tabs', body('<<-The-End', `\t${V}`), (v) => `${v}\n`, [...HARMS, 'tab-in-heredoc']],
    [
      'heredoc, $( )',
      body('<<The-End', `$(printf %s ${V}).`),
      (v) => `${v}.\n`,
      ['line-break-in-body', ...HARMS],
    ],
    [
      'heredoc, "$( )"',
      body('<<The-End', `$(printf %s "${V}").`),
      (v) => `${v}.\n`,
      ['line-break-in-body', ...HARMS],
    ],
  ];

const HOSTILE = [
  '',
  ...'$(canary) `canary` ;canary; &canary& |canary )canary >here <here a[$(canary)] The-End EOF <<The-End'.split(
    ' ',
  ),
  ...`' " \\ $ \` ( ) { } [ ] * ? ~ # ! = - % $(( )) \${x n 0 é 中 😀`.split(' '),
  ...[' ', '\n', '\r', '\t', '\x01', '\x7f', '\x1b', '\u0081', '\u2028', '\u00a0', '\u202e', '\\\n'],
  ...['\ncanary\n', '\nThe-End\n', 'The-End\ncanary'],
];
const value = fc
  .oneof(
    {
      weight: 3,
      arbitrary: fc.array(fc.constantFrom(...HOSTILE), { maxLength: 6 }).map((pieces) => pieces.join('')),
    },
    { weight: 1, arbitrary: fc.string({ unit: 'binary', maxLength: 12 }) },
  )
  .filter((text) => !text.includes('\0'));

interface Case {
  readonly name: string;
  readonly script: string;
  readonly prints: string;
}

function casesFor(v: string): readonly Case[] {
  return PLACES.flatMap(([name, source, prints, refusals = []]) => {
    const rendered = command(source, v);
    if (rendered.ok) return [{ name, script: rendered.value, prints: prints(v) }];
    expect(refusals, `${name}: ${JSON.stringify(v)}`).toEqual(expect.arrayContaining([...codesOf(rendered)]));
    return [];
  });
}

/** One process for all: what each prints ends in a NUL, which no value holds. */
function expectPrinted(shell: string, cases: readonly Case[]): void {
  const { stdout, stderr, left } = runIn(shell, cases.map(({ script }) => `${script}\n`).join(''));
  const printed = stdout.split('\0');
  for (const [i, { name, prints }] of cases.entries()) expect(printed[i], name).toBe(prints);
  expect({ stderr, left, more: printed.slice(cases.length) }).toEqual({ stderr: '', left: [], more: [''] });
}

describe.each(SHELLS)('in %s', (_, shell) => {
  test('every sharp piece alone arrives unchanged in every place', () => {
    expectPrinted(shell, HOSTILE.flatMap(casesFor));
  });

  test('every value arrives unchanged in every place, and no other command runs', () => {
    const values = fc.array(value, { minLength: 25, maxLength: 25 });
    fc.assert(
      fc.property(values, (some) => expectPrinted(shell, some.flatMap(casesFor))),
      { numRuns: 6 },
    );
  });

  test('a list of paths arrives as that many words, none of which can be an option', () => {
    const paths = fc.array(fc.array(value.filter(Boolean), { maxLength: 5 }), {
      minLength: 20,
      maxLength: 20,
    });
    fc.assert(
      fc.property(paths, (lists) => {
        const cases = lists.map((inputs): Case => {
          const scope: Scope = { ...SCOPE, names: { inputs } };
          const rendered = renderShell(
            parsed(`for i in {{inputs}}; do printf '%s|' "$i"; done; ${END}`),
            scope,
          );
          const words = inputs.map((path) => (path.startsWith('-') ? `./${path}|` : `${path}|`));
          return { name: 'list', script: rendered.ok ? rendered.value : '', prints: words.join('') };
        });
        expectPrinted(shell, cases);
      }),
      { numRuns: 5 },
    );
  });

  test('a whole number in arithmetic is that number', () => {
    fc.assert(
      fc.property(fc.array(fc.integer(), { minLength: 50, maxLength: 50 }), (numbers) => {
        const cases = numbers.map((n): Case => {
          const rendered = command(`${PRINT} $((1-${V}))`, n);
          return { name: 'arithmetic', script: rendered.ok ? rendered.value : '', prints: String(1 - n) };
        });
        expectPrinted(shell, cases);
      }),
      { numRuns: 3 },
    );
  });
});
