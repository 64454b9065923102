// The drawing's style sheet. Plain rules twice instead of CSS variables, which Inkscape and librsvg do not know.

import type { Look } from '../stage-marks.ts';

interface Palette {
  readonly paper: string;
  readonly ink: string;
  readonly faint: string;
  readonly line: string;
  readonly frame: string;
  readonly looks: Readonly<Record<Look, { readonly fill: string; readonly stroke: string }>>;
}

const LIGHT: Palette = {
  paper: '#ffffff',
  ink: '#17202b',
  faint: '#526070',
  line: '#8492a3',
  frame: '#f5f7fa',
  looks: {
    source: { fill: '#e9f6ec', stroke: '#2f7d46' },
    transform: { fill: '#eaf2fc', stroke: '#3568a8' },
    action: { fill: '#fdf2dd', stroke: '#9a650f' },
    gate: { fill: '#fbeaf3', stroke: '#a83279' },
  },
};

const DARK: Palette = {
  paper: '#12161c',
  ink: '#e8edf3',
  faint: '#a3b0bf',
  line: '#6f7e90',
  frame: '#191f27',
  looks: {
    source: { fill: '#16301f', stroke: '#5fbf7c' },
    transform: { fill: '#172a43', stroke: '#6ea3e4' },
    action: { fill: '#3a2c10', stroke: '#dba74a' },
    gate: { fill: '#3b1a2e', stroke: '#e27db8' },
  },
};

export function styleSheet(): string {
  return [
    'text{font-family:ui-monospace,SFMono-Regular,Menlo,Consolas,"DejaVu Sans Mono",monospace;white-space:pre}',
    '.name{font-size:13px;text-anchor:middle}.note{font-size:10.5px;text-anchor:middle}',
    '.head{font-size:15px;font-weight:600}.key{font-size:11px;font-weight:400}',
    '.line{fill:none;stroke-width:1.3}.many{stroke-width:2.6}.after{stroke-dasharray:5 4}',
    '.box{stroke-width:1.4}.box.gate{stroke-width:2.4}.inner{fill:none}',
    rules(LIGHT),
    `@media (prefers-color-scheme:dark){${rules(DARK)}}`,
  ].join('\n');
}

function rules(palette: Palette): string {
  const looks = Object.entries(palette.looks).map(
    ([look, { fill, stroke }]) => `.${look}{fill:${fill};stroke:${stroke}}`,
  );
  return [
    `.paper{fill:${palette.paper}}.name,.head{fill:${palette.ink}}.note,.key{fill:${palette.faint}}`,
    `.line{stroke:${palette.line}}.tip{fill:${palette.line}}`,
    `.frame{fill:${palette.frame};stroke:${palette.line}}`,
    ...looks,
    // After the looks, because an inner border has the look's stroke but not its fill.
    '.inner{fill:none}',
  ].join('');
}
