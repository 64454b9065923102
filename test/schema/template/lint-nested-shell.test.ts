import { describe, expect, test } from 'vitest';
import { lintNestedShell } from '../../../schema/template/lint-nested-shell.ts';
import { parsed, pointedAt } from './rendered.ts';

describe('lintNestedShell', () => {
  test.each([
    'sh -c "wc {{input}}"',
    "/bin/bash -ec 'wc {{input}}'",
    'bash -o pipefail -c {{input}}',
    'find . -exec sh -c "cat {{input}} {}" \\;',
    'ls | xargs -n1 sh -c "cat {{input}}"',
    'sudo -u me sh -c "cat {{input}}"',
    'su me -c "cat {{input}}"',
    'ssh host "wc {{input}}"',
    'ssh -p 22 -i key host wc {{input}}',
    'if ssh host test -e {{input}}; then :; fi',
    'ssh host <<E\nwc {{input}}\nE',
    'ssh host bash -s <<E\nwc {{input}}\nE',
    'bash -e <<E\nwc {{input}}\nE',
    'python3 - <<E\nprint("{{input}}")\nE',
    'eval "wc {{input}}"',
    'A=1 eval wc {{input}}',
    'trap "rm {{input}}" EXIT',
    `python3 -c "print('{{input}}')"`,
    "perl -ne 'print if /{{input}}/'",
    "awk '/{{input}}/ { print }' file",
    'awk -F , -v a=b \'$1 == "{{input}}"\' file',
    'echo $(sh -c "wc {{input}}")',
  ])('warns of %j', (source) => {
    const problems = lintNestedShell(parsed(source));
    expect(problems).toMatchObject([{ code: 'nested-shell', hint: expect.stringMatching(/./) }]);
    expect(pointedAt(source, problems[0])).toBe('{{input}}');
  });

  test.each([
    `sh -c 'wc "$1"' sh {{input}}`,
    `sh -c 'wc "$1"' sh "{{input}}" # {{input}}`,
    'sh script.sh {{input}}',
    'grep -c {{input}} file',
    'tar -c {{input}}',
    'rsync -e ssh {{input}} host:/data',
    'ssh {{params.host}} uptime',
    'ssh -p {{params.port}} host uptime',
    'ssh host cat > {{output}} < {{input}} 2>{{output}}',
    "printf %s {{input}} | ssh host 'v=$(cat)'",
    'ssh host "cat > f" <<E\n{{input}}\nE',
    'cat <<E\n{{input}}\nE',
    'python3 tool.py {{input}}',
    'python3 tool.py <<E\n{{input}}\nE',
    "python3 -c 'import sys; print(sys.argv[1])' {{input}}",
    "awk '{ print }' {{input}}",
    "awk -v v={{input}} '{ print v }'",
    'awk -f {{params.program}} {{input}}',
    'v={{input}} awk \'{ print ENVIRON["v"] }\'',
    'sh -c "wc {{input | raw}}"',
    'evaluate {{input}}; sh -c true; echo {{input}}',
  ])('says nothing about %j', (source) => {
    expect(lintNestedShell(parsed(source))).toEqual([]);
  });

  test('says how to pass the value instead', () => {
    expect(lintNestedShell(parsed('sh -c "wc {{input}}"'))[0]).toMatchObject({
      message: '{{input}} becomes part of a text that sh reads as code',
      hint: `pass it as an argument: sh -c '… "$1"' sh {{…}}`,
    });
  });
});
