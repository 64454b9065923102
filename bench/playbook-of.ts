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
