// A playbook with the given number of stages: a few chains that meet, each stage with a command, deps, outs and params.

export function playbookOf(stages: number): string {
  const lines = ['params: {model: base, lang: en}', 'stages:'];
  for (let i = 0; i < stages; i++) {
    const before = i < 10 ? `in/${i}.txt` : `out/${i - 10}.txt`;
    lines.push(
      `  stage_${i}:`,
      `    description: Step ${i}`,
      `    cmd: tool --model {{params.model}} {{deps[0].path}} > {{outs[0].path}}`,
      `    deps: [{path: ${before}}, shared/config.json]`,
      `    outs: [{path: out/${i}.txt}]`,
      `    retry: {limit: 2, policy: on_failure, backoff: {initial: 1s, factor: 2, max: 1m}}`,
    );
  }
  return `${lines.join('\n')}\n`;
}
