// What `sluice init` writes: a playbook to read and change, two texts to work on, and what git should leave out.

// No name: it is then the file's own, so that a second starter beside the first is another workflow.
export const STARTER_PLAYBOOK = `# Counts the words of every text in texts/ and lists the longest texts first.
#
# Each stage says what it reads (deps), what it makes (outs) and how (cmd); the order follows from the paths.
# A stage is made again when the content of its deps, its command or a param that it uses has changed.
# Your editor can help: 'sluice schema playbook' prints the JSON Schema of this file.
version: "1.0"

# Values for commands: {{params.longest}} below.
params:
  longest: 10

stages:
  # One state for each file that matches. {text} stands for its name: drop another file there, and that one
  # is counted too.
  count_{text}:
    description: Count the words of one text
    cmd: wc -w < {{deps[0].path}} > {{outs[0].path}}
    deps:
      - path: texts/{text}.txt
    outs:
      - path: counts/{text}.txt

  # The out has no {text}, so this stage waits for all the counts and takes them together.
  report:
    description: List the longest texts first
    cmd: grep -H . {{deps[0].path}} | sort -t ':' -k 2 -rn | head -n {{params.longest}} > {{outs[0].path}}
    deps:
      - path: counts/{text}.txt
    outs:
      - path: report.txt
`;

export const SAMPLES = {
  folder: 'texts',
  files: {
    'gate.txt': 'Open the gate and the water finds the mill.\n',
    'river.txt': 'The river keeps its bed clean by never standing still.\n',
  },
} as const;

/** For the project's root, where `.sluice/` is. */
export const IGNORED_STATE: readonly string[] = [
  '# Sluice: its own state, rebuilt from lock files and disk',
  '.sluice/',
  '.sluice-*',
  '# Sluice: lock files and event logs belong in git',
  '!*.lock.yaml',
  '!*.events.jsonl',
];

/** For the playbook's directory. */
export function ignoredBeside(playbook: string): readonly string[] {
  return [
    '# Sluice: made by the starter playbook, and proved by its lock file',
    '/counts/',
    '/report.txt',
    '# Sluice: the playbook and its reports belong in git',
    '!/reports/',
    `!/${playbook.replaceAll(/[\\*?[\] ]/g, '\\$&')}`,
  ];
}
