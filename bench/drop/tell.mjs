// The table of drops for one number of files already there.

import { median, table } from '../run/table.mjs';

const AIM_BEYOND_SETTLE_MS = 20;
const HEAD = ['', 'rename', 'p95', 'to floor', 'write', 'p95', 'burst', 'idle CPU', 'resident'];

export function tellDrops(size, rows, burst) {
  const floor = rows.find(({ watcher }) => watcher.role === 'floor');
  const lines = rows.map((row) => lineOf(row, floor));
  return [
    `\n${size.toLocaleString('en')} files already there; burst of ${burst.toLocaleString('en')}`,
    lines.length === 0 ? 'no watcher to measure' : table(HEAD, lines),
    ...rows.filter(({ watcher }) => watcher.role === 'ours').flatMap(aimsOf),
  ].join('\n');
}

export function percentile95(times) {
  const sorted = [...times].sort((a, b) => a - b);
  return sorted[Math.min(sorted.length - 1, Math.ceil(sorted.length * 0.95) - 1)];
}

function lineOf(row, floor) {
  const { watcher, rename, write, burst, idleCpu, residentMb, failure } = row;
  if (write.length === 0) return [watcher.name, `failed: ${shortened(failure)}`];
  const toFloor = floor?.rename.length > 0 ? `${(median(rename) / median(floor.rename)).toFixed(1)}×` : '–';
  return [
    ...[watcher.name, ms(median(rename)), ms(percentile95(rename)), toFloor],
    ...[ms(median(write)), ms(percentile95(write)), burst === null ? '–' : `${burst.toFixed(2)} s`],
    idleCpu === null ? '–' : `${(idleCpu * 100).toFixed(1)} %`,
    residentMb === null ? '–' : `${residentMb.toFixed(0)} MB`,
    failure === null ? '' : `then failed: ${shortened(failure)}`,
  ];
}

function aimsOf({ watcher, rename, firstStart, secondStart }) {
  if (rename.length === 0) return [];
  const aimMs = watcher.settleMs + AIM_BEYOND_SETTLE_MS;
  const verdict = median(rename) * 1_000 <= aimMs ? 'met' : 'not met';
  const seconds = (value) => (value === null ? '–' : `${value.toFixed(2)} s`);
  return [
    `${watcher.name}: aim ≤ ${aimMs} ms, ${verdict}; watching ${seconds(firstStart)} after its first start, ` +
      `${seconds(secondStart)} after its second`,
  ];
}

function ms(seconds) {
  return `${(seconds * 1_000).toFixed(1)} ms`;
}

function shortened(failure) {
  return failure?.split('\n')[0].slice(0, 160);
}
