// `npm run bench:aims`: every aim for speed, what was measured, and whether it is met. Made from bench/results/ alone.

import { AIMS, type Aim } from './aims/aims.ts';
import { openFigures } from './aims/figures.ts';
import { PARTS, readResults } from './measure/machine.ts';
import { formatTable, rounded } from './measure/table.ts';

const results = new Map(PARTS.map((part) => [part, readResults(part)]));
for (const [part, taken] of results) {
  const how =
    taken === null ? `not run (npm run bench:${part})` : `${taken.at}, load ${taken.load.toFixed(1)}`;
  console.log(`${part}: ${how}${taken?.quick ? ', quick' : ''}`);
}
const [machine] = [...results.values()].flatMap((taken) => taken?.machine ?? []);
console.log(`${machine ?? 'nothing was measured'}\n`);

const figures = openFigures(results);
const verdicts = AIMS.map((aim) => ({ aim, value: aim.measured(figures) }));
const isMarkdown = process.argv.includes('--markdown');
const head = ['aim', 'at most', 'at least', 'measured', 'verdict'];
const lines = verdicts.map(lineOf);
const bars = (cells: readonly string[]) => `| ${cells.join(' | ')} |`;
console.log(
  isMarkdown
    ? [bars(head), '|---|--:|--:|--:|---|', ...lines.map(bars)].join('\n')
    : formatTable(head, lines),
);
const count = (wanted: string) =>
  verdicts.filter(({ aim, value }) => verdictOn(aim, value) === wanted).length;
console.log(`\n${count('met')} met, ${count('NOT met')} NOT met, ${count('not measured')} not measured`);

function lineOf({ aim, value }: { readonly aim: Aim; readonly value: number | null }): string[] {
  const told = (number: number | undefined) => (number === undefined ? '' : `${plain(number)} ${aim.unit}`);
  return [
    `${aim.issue}: ${aim.what}`,
    ...[told(aim.atMost), told(aim.atLeast)],
    value === null ? '–' : `${rounded(value)} ${aim.unit}`,
    verdictOn(aim, value),
  ];
}

function plain(number: number): string {
  return number.toLocaleString('en', { maximumFractionDigits: 2 });
}

function verdictOn({ atMost, atLeast }: Aim, value: number | null): 'met' | 'NOT met' | 'not measured' {
  if (value === null) return 'not measured';
  const isMet = value <= (atMost ?? value) && value >= (atLeast ?? value);
  return isMet ? 'met' : 'NOT met';
}
