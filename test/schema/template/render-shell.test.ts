import { describe, expect, test } from 'vitest';
import { good } from '../../../schema/template/problem.ts';
import { checkShell, renderShell } from '../../../schema/template/render-shell.ts';
import { codesOf, command, commandWithPath, parsed, pointedAt, SCOPE, withParams } from './rendered.ts';

const V = '{{params.v}}';
const REBOOT = '$(reboot) ; x.wav';

describe('renderShell: a value is quoted for the place where it stands', () => {
  test.each([
    ['a bare word', `echo ${V}`, `echo '$(reboot) ; x.wav'`],
    ['a part of a word', `echo --in=${V}.bak`, `echo --in='$(reboot) ; x.wav'.bak`],
    ['double quotes', `echo "a ${V}"`, 'echo "a \\$(reboot) ; x.wav"'],
    ['single quotes', `echo 'a ${V}'`, `echo 'a $(reboot) ; x.wav'`],
    ['$( ) inside double quotes', `echo "$(cat ${V})"`, `echo "$(cat '$(reboot) ; x.wav')"`],
    ['a heredoc', `cat <<E\n${V}\nE\n`, 'cat <<E\n\\$(reboot) ; x.wav\nE\n'],
    ['a quoted heredoc', `cat <<'E'\n${V}\nE\n`, `cat <<'E'\n$(reboot) ; x.wav\nE\n`],
    ['the text after a heredoc', `cat <<E\n'\nE\necho ${V}`, `cat <<E\n'\nE\necho '$(reboot) ; x.wav'`],
    ['a comment', `true # ${V}`, 'true # $(reboot) ; x.wav'],
    ['a word after a $name', `echo $a${V}`, `echo $a'$(reboot) ; x.wav'`],
    ['a word with a # in it', `echo a#${V}`, `echo a#'$(reboot) ; x.wav'`],
    ['double quotes after a $name', `echo "$a${V}"`, 'echo "$a""\\$(reboot) ; x.wav"'],
  ])('in %s', (_, source, text) => {
    expect(command(source, REBOOT)).toEqual(good(text));
  });

  test.each([
    ['a bare quote', `echo ${V}`, "it's", `echo 'it'\\''s'`],
    ['a single-quoted quote', `echo '${V}'`, "it's", `echo 'it'\\''s'`],
    ['what double quotes keep special', `echo "${V}"`, '\\"$`', 'echo "\\\\\\"\\$\\`"'],
    ['what a heredoc keeps special', `cat <<E\n${V}\nE`, '\\"$`', 'cat <<E\n\\\\"\\$\\`\nE'],
    ['a line break in a comment', `true # ${V}`, 'a\nreboot', 'true # a reboot'],
    ['an empty value', `echo ${V}`, '', "echo ''"],
    ['a list of a param, as one JSON word', `echo ${V}`, [1, 'b'], `echo '[1,"b"]'`],
    ['a whole number in arithmetic', `echo $((2 - ${V}))`, -3, 'echo $((2 - (-3)))'],
  ])('%s', (_, source, value, text) => {
    expect(command(source, value)).toEqual(good(text));
  });

  test.each([
    ['a plain word', `echo ${V}`, 'a/b.c:d_e-1', 'echo a/b.c:d_e-1'],
    ['a number', `echo ${V} > f`, 2, 'echo 2 > f'],
    ['a number that would become a descriptor', `echo ${V}> f`, 2, "echo '2'> f"],
    ['a keyword', V, 'done', "'done'"],
    ['half a keyword', `${V}ne`, 'do', "'do'ne"],
    ['a word that would become an assignment', `${V}=1 env`, 'PATH', "'PATH'=1 env"],
    ['a word after a $name that a line break interrupts', `echo $a\\\n${V}`, 'b', "echo $a\\\n'b'"],
    ['a descriptor', `echo >&${V}`, 2, 'echo >&2'],
    ['a word after a tilde', `echo ~${V}`, 'root', "echo ~'root'"],
    ['a word in a bracket', `ls [${V}]`, 'a-z', "ls ['a-z']"],
  ])('leaves quotes out only where they change nothing: %s', (_, source, value, text) => {
    expect(command(source, value)).toEqual(good(text));
  });

  test('a path that begins with - gets ./ where a word begins, and only there', () => {
    expect(commandWithPath('rm {{input}} "{{input}}" \'{{input}}\' x{{input}} # {{input}}', '-rf')).toEqual(
      good(`rm ./-rf "./-rf" './-rf' x-rf # -rf`),
    );
    expect(commandWithPath('cat <<E\n{{input}}\nE', '-rf')).toEqual(good('cat <<E\n-rf\nE'));
    expect(command(`rm ${V}`, '-rf')).toEqual(good('rm -rf'));
  });

  test('a list of paths becomes one word each', () => {
    const files = ['a', 'b c', '-d', "e'"];
    expect(commandWithPath('cat {{inputs}}>out', files)).toEqual(good(`cat a 'b c' ./-d 'e'\\'''>out`));
    expect(commandWithPath('for f in {{inputs}}; do :; done # {{inputs}}', ['a', 'b\nc'])).toEqual(
      good(`for f in a 'b\nc'; do :; done # a b c`),
    );
  });

  test('| raw goes in as it is, and what follows is quoted for the place it leads to', () => {
    const source = 'echo {{params.open | raw}}{{params.v}}" {{inputs | raw}}';
    expect(renderShell(parsed(source), withParams({ open: '$(date) "', v: '$x' }))).toEqual(
      good('echo $(date) "\\$x" a b c'),
    );
  });

  test('braces of the shell and of awk stay as they are', () => {
    const source = `awk '{print $1}' {a,b} \${sample} "\${sample}" {sample}`;
    expect(renderShell(parsed(source), SCOPE)).toEqual(
      good(`awk '{print $1}' {a,b} \${sample} "\${sample}" lecture-01`),
    );
  });
});

describe('renderShell: a place that cannot be quoted for is refused', () => {
  const refusals: [string, string][] = [
    ['after-backslash', `echo \\${V}`],
    ['after-backslash', `echo "\\${V}"`],
    ['after-dollar', `echo $${V}`],
    ['after-name', `cat <<E\n$a${V}\nE`],
    ['after-name', `echo $(( $a${V} ))`],
    ['in-ansi-quotes', `echo $'${V}'`],
    ['in-backticks', `echo \`cat ${V}\``],
    ['in-backticks', `echo "\`cat '${V}'\`"`],
    ['in-parameter', `echo \${a:-${V}}`],
    ['in-parameter', `echo "\${a#${V}}"`],
    ['in-delimiter', `cat <<${V}\nx\n`],
    ['in-delimiter', `cat <<- '${V}'\nx\n`],
    ['in-nested-heredoc', `a=$(cat <<E\n${V}\nE\n)`],
    ['in-nested-comment', `a=$(true # ${V}\n)`],
    ['unsure-place', `((a = ${V}))`],
    ['unsure-place', `a=$(case x in x) echo ${V};; esac)`],
    ['unsure-place', `echo @(a|${V})`],
    ['unsure-place', `echo "\${a:-'}'}" ${V}`],
    ['unsure-place', `echo $[1 + ${V}]`],
    ['unsure-place', `cat <<E $(true\n) ${V}`],
    ['unsure-place', `cat <<E <(true\n) ${V}`],
    ['unsure-place', `echo $'\\'' ${V}`],
    ['unsure-place', `cat <<"$E"\n${V}`],
  ];

  test.each(refusals)('with %s: %j', (code, source) => {
    const outcome = command(source, 'x');
    expect(codesOf(outcome)).toEqual([code]);
    const [problem] = outcome.ok ? [] : outcome.problems;
    expect(pointedAt(source, problem)).toBe(V);
    expect(problem?.hint).not.toBe('');
  });

  test.each(refusals)('and checkShell tells %s before there is a value: %j', (code, source) => {
    expect(checkShell(parsed(source)).map((problem) => problem.code)).toEqual([code]);
  });
});

describe('renderShell: a value that its place cannot hold is refused', () => {
  test.each([
    ['nul-in-value', `echo ${V}`, 'a\0b'],
    ['nul-in-value', `echo {{params.v | raw}}`, 'a\0b'],
    ['bad-unicode', `echo ${V}`, '\ud800'],
    ['not-a-number', `echo $((${V}))`, 'a[$(reboot)]'],
    ['not-a-number', `echo $((${V}))`, 1.5],
    ['not-a-number', `echo $((${V}))`, '010'],
    ['ends-heredoc', `cat <<E\n${V}\nE\n`, 'a\nE\nreboot'],
    ['ends-heredoc', `cat <<'E'\n${V}\nE\n`, 'E'],
    ['ends-heredoc', `cat <<E\n${V}D\nED\n`.replace('<<E', '<<ED'), 'E'],
    ['ends-heredoc', `cat <<-E\n\t${V}\nE\n`, 'E'],
    ['ends-heredoc', `cat <<E\n${V}`, 'x\nE'],
    ['lost-in-heredoc', `cat <<EOF\n${V}\nEOF\n`, 'Eé'],
    ['lost-in-heredoc', `cat <<-'EOF'\n\tE${V}\nEOF\n`, 'é'],
    ['not-a-descriptor', `echo >&${V}`, '$(reboot)'],
    ['not-a-descriptor', `echo 2>& "${V}"`, 'file'],
    ['tab-in-heredoc', `cat <<-E\n${V}\nE\n`, '\tx'],
    ['tab-in-heredoc', `cat <<-E\na${V}\nE\n`, 'x\n\ty'],
    ['line-break-in-body', `cat <<E\n$(cat ${V})\nE\n`, 'a\nb'],
    ['evaluated-again', `[[ ${V} -eq 0 ]]`, 'a[$(reboot)]'],
    ['evaluated-again', `[[ 0 -eq "${V}" ]]`, 'a[$(reboot)]'],
    ['evaluated-again', `[[ ${V} -eq 0 ]]`, 'PATH=1'],
    ['evaluated-again', `a['${V}']=1`, '$(reboot)'],
    ['evaluated-again', `a=([${V}]=1)`, '$(reboot)'],
    ['evaluated-again', `let ${V}`, 'a[$(reboot)]'],
    ['evaluated-again', `if test -v ${V}; then :; fi`, 'a[$(reboot)]'],
    ['evaluated-again', `unset ${V}`, 'a[$(reboot)]'],
    ['evaluated-again', `declare -i n=${V}`, 'a[$(reboot)]'],
  ])('with %s in %j', (code, source, value) => {
    expect(codesOf(command(source, value))).toEqual([code]);
  });

  test.each([
    [`[[ ${V} == a.b ]]`, 'a.b', `[[ 'a.b' == a.b ]]`],
    [`declare n=${V}`, '$x', `declare n='$x'`],
    [`a[1]=${V}`, '$x', `a[1]='$x'`],
    [`let n=1; echo ${V}`, '$x', `let n=1; echo '$x'`],
    [`mytool read ${V}`, '$x', `mytool read '$x'`],
    [`[ ${V} = x ]`, '$x', `[ '$x' = x ]`],
  ])('but the same value is fine in %j', (source, value, text) => {
    expect(command(source, value)).toEqual(good(text));
  });

  test.each([
    'cat "{{inputs}}"',
    "cat '{{inputs}}'",
    'cat x{{inputs}}',
    'cat {{inputs}}.wav',
    'cat <<E\n{{inputs}}\nE',
  ])('with list-in-word for a list in %j', (source) => {
    expect(codesOf(commandWithPath(source, ['a']))).toEqual(['list-in-word']);
    expect(checkShell(parsed(source)).map(({ code }) => code)).toEqual(['list-in-word']);
  });

  test('and so is a list that holds a NUL', () => {
    expect(codesOf(commandWithPath('cat {{inputs}}', ['a', 'b\0']))).toEqual(['nul-in-value']);
  });

  test('and every one of several is told, at its own place', () => {
    const source = 'echo $(({{params.v}})) `{{input}}` ${a{{output}}}';
    const outcome = renderShell(parsed(source), SCOPE);
    const told = outcome.ok
      ? []
      : outcome.problems.map((problem) => [problem.code, pointedAt(source, problem)]);
    expect(told).toEqual([
      ['not-a-number', '{{params.v}}'],
      ['in-backticks', '{{input}}'],
      ['in-parameter', '{{output}}'],
    ]);
  });

  test('and the value that ends a heredoc is the one that is named', () => {
    const source = `cat <<E\n{{params.v}}\nE\necho {{input}}`;
    const outcome = renderShell(parsed(source), withParams({ v: 'E' }));
    expect(outcome.ok ? [] : outcome.problems.map((each) => pointedAt(source, each))).toEqual([
      '{{params.v}}',
    ]);
  });
});
