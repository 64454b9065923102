// A small workflow for the tests of the command line: each text is counted, the counts are put together.

import { project } from '../rig/project.ts';

export const WORDS = `
params: {title: Words}
stages:
  count_{text}:
    cmd: |
      echo count >> runs.log
      wc -w < {{deps[0].path}} > {{outs[0].path}}
    deps: ["texts/{text}.txt"]
    outs: ["counts/{text}.txt"]
  sum:
    cmd: |
      echo sum >> runs.log
      { echo {{params.title}}; cat {{deps[0].path}}; } > {{outs[0].path}}
    deps: ["counts/{text}.txt"]
    outs: [sum.txt]
`;

export function words(files: Readonly<Record<string, string>> = {}) {
  return project({
    'p.yaml': WORDS,
    'texts/a.txt': 'one two\n',
    'texts/b.txt': 'one two three\n',
    ...files,
  });
}

/** One stage that fails after it has said something, and one that waits for it. */
export const FAILING = `
stages:
  bad:
    cmd: |
      echo some output
      echo no such luck >&2
      exit 3
    deps: [in.txt]
    outs: [bad.txt]
  after_bad: {cmd: "cp {{deps[0].path}} {{outs[0].path}}", deps: [bad.txt], outs: [never.txt]}
`;
