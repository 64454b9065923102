// A playbook with the given number of stages in ten chains: plain has what every stage needs, rich uses more keys.

export function playbookOf(stages: number, kind: 'plain' | 'rich'): string {
  const lines = ['params: {model: base, lang: en}', 'stages:'];
  for (let i = 0; i < stages; i++) {
    const before = i < 10 ? `in/${i}.txt` : `out/${i - 10}.txt`;
    lines.push(
      `  stage_${i}:`,
      `    cmd: tool --model {{params.model}} {{deps[0].path}} > {{outs[0].path}}`,
      `    deps: [${before}, shared/config.json]`,
      `    outs: [out/${i}.txt]`,
    );
    if (kind === 'plain') continue;
    lines.push(
      `    description: Step ${i}`,
      `    resources: {cores: 2, timeout: 10m}`,
      `    retry: {limit: 2, policy: on_failure, backoff: {initial: 1s, factor: 2, max: 1m}}`,
    );
  }
  return `${lines.join('\n')}\n`;
}

/** The hardest shape for finding the order: every pattern of one directory has to be told from all the others. */
export function patternsOf(stages: number): string {
  const lines = Array.from({ length: stages }, (_, i) => [
    `  stage_${i}:`,
    `    cmd: tool {{deps[0].path}} > {{outs[0].path}}`,
    `    deps: ["in/{x}.a${i}"]`,
    `    outs: ["out/{x}.b${i}"]`,
  ]);
  return `stages:\n${lines.flat().join('\n')}\n`;
}
