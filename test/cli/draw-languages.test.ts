// Drawings that other programs read: Mermaid and Graphviz.

import { spawnSync } from 'node:child_process';
import fc from 'fast-check';
import { describe, expect, it, test } from 'vitest';
import { drawDot } from '../../cli/draw/dot.ts';
import { drawMermaid } from '../../cli/draw/mermaid.ts';
import { corpus, hostile, type Sample, talks } from './draw-samples.ts';

const mermaidOf = ({ workflow, dag }: Sample) => drawMermaid(workflow, dag);
const dotOf = ({ workflow, dag }: Sample) => drawDot(workflow, dag);
const anyNames = fc.uniqueArray(fc.string({ unit: 'binary', minLength: 1 }), { minLength: 1, maxLength: 4 });

test.each([
  ['mermaid', mermaidOf],
  ['dot', dotOf],
])('%s is the same bytes every time', (_title, draw) => {
  for (const make of [talks, corpus, hostile]) expect(draw(make())).toBe(draw(make()));
});

describe('mermaid', () => {
  it('has a node per stage in the shape of its kind and an arrow per edge, dashed for after', () => {
    expect(mermaidOf(talks())).toBe(`flowchart LR
  s0[/"audio<br/>source"/]
  s1["transcribe_#123;talk#125;<br/>per #123;talk#125; · on intel"]
  s2["summarize_#123;talk#125;<br/>per #123;talk#125;"]
  s3["index"]
  s4["publish<br/>frozen"]
  s5(["notify<br/>action"])
  s0 -->|"audio/#123;talk#125;.wav"| s1
  s1 -->|"text/#123;talk#125;.json"| s2
  s1 -->|"text/#123;talk#125;.json"| s3
  s2 -->|"summaries/#123;talk#125;.md"| s4
  s3 -->|"index.json"| s4
  s4 -.->|"after"| s5
`);
  });

  it('lets no name end its label or its line', () => {
    const node = String.raw`s\d+(?:\[|\(\[)"(?:[^"<>&{}[\]();#]|#\d+;|<br/>)*"(?:\]|\]\))`;
    const edge = String.raw`s\d+ -->\|"(?:[^"<>&{}[\]();#|]|#\d+;)*"\| s\d+`;
    const line = new RegExp(`^  (?:${node}|${edge})$`, 'u');
    fc.assert(
      fc.property(anyNames, (names) => {
        const [head, ...lines] = mermaidOf(hostile(names)).trimEnd().split('\n');
        expect(head).toBe('flowchart LR');
        for (const each of lines) expect(each).toMatch(line);
        expect(lines).toHaveLength(2 * names.length - 1);
      }),
    );
  });
});

describe('dot', () => {
  it('has a node per stage in the shape of its kind and an arrow per edge, dashed for after', () => {
    const lines = dotOf(talks()).split('\n');
    expect(lines[0]).toBe('digraph "talks" {');
    expect(lines).toContain('  s0 [label="audio\\nsource", shape=note];');
    expect(lines).toContain('  s4 [label="publish\\nfrozen", shape=box, style=rounded, peripheries=2];');
    expect(lines).toContain('  s3 -> s4 [label="index.json"];');
    expect(lines).toContain('  s4 -> s5 [label="after", style=dashed];');
    expect(lines.at(-2)).toBe('}');
  });

  it('lets no name end its label or its line', () => {
    const label = String.raw`"(?:[^"\\&]|\\["\\n]|&amp;)*"`;
    const line = new RegExp(`^  s\\d+(?: -> s\\d+)? \\[label=${label}(?:, [^"]*)?\\];$`, 'u');
    fc.assert(
      fc.property(anyNames, (names) => {
        const lines = dotOf(hostile(names)).trimEnd().split('\n');
        expect(lines[0]).toMatch(new RegExp(`^digraph ${label} \\{$`, 'u'));
        for (const each of lines.slice(4, -1)) expect(each).toMatch(line);
        expect(lines).toHaveLength(2 * names.length - 1 + 5);
      }),
    );
  });

  it.skipIf(spawnSync('dot', ['-V']).error !== undefined)('is read by Graphviz as it was meant', () => {
    const { stdout, stderr } = spawnSync('dot', ['-Tplain'], { input: dotOf(hostile()), encoding: 'utf8' });
    expect(stderr.replaceAll(/.*(?:[Ff]ont|[Pp]ango).*\n?/g, '')).toBe('');
    expect(stdout.match(/^node /gm)).toHaveLength(8);
    expect(stdout.match(/^edge /gm)).toHaveLength(7);
  });
});
