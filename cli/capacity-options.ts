// What this machine has to give, as options: `--cores`, `--memory`, `--gpu`, `--pool NAME=N`, `--label K=V`.

import { availableParallelism } from 'node:os';
import type { Capacity } from '../runner/capacity.ts';
import { shown } from '../schema/diagnostic.ts';
import { CliError, list, text, type Values } from './command.ts';

export function capacityAsked(values: Values): Capacity {
  return {
    cores: count(values, 'cores') ?? availableParallelism(),
    memoryBytes: memory(text(values, 'memory')),
    gpu: count(values, 'gpu') ?? 0,
    pools: poolsAsked(values),
  };
}

export function poolsAsked(values: Values): Readonly<Record<string, number>> {
  return Object.fromEntries(
    pairs(values, 'pool', 'name=4').map(([name, written]) => [name, whole(`--pool ${name}`, written)]),
  );
}

export function labelsAsked(values: Values): Readonly<Record<string, string>> {
  return Object.fromEntries(pairs(values, 'label', 'disk=ssd'));
}

function pairs(values: Values, option: string, example: string): [string, string][] {
  return list(values, option).map((written) => {
    const at = written.indexOf('=');
    if (at > 0) return [written.slice(0, at), written.slice(at + 1)];
    throw bad(`--${option} ${shown(written)} has no '='`, `write --${option} ${example}`);
  });
}

function count(values: Values, option: string): number | undefined {
  const written = text(values, option);
  return written === undefined ? undefined : whole(`--${option}`, written);
}

function whole(option: string, written: string): number {
  const number = Number(written);
  if (/^\d+$/.test(written) && Number.isSafeInteger(number)) return number;
  throw bad(`${option} ${shown(written)} is not a whole number`, `write for example ${option} 4`);
}

const UNITS: Readonly<Record<string, number>> = { '': 1, K: 2 ** 10, M: 2 ** 20, G: 2 ** 30, T: 2 ** 40 };

function memory(written: string | undefined): number | null {
  if (written === undefined) return null;
  const [, number, unit] = /^(\d+(?:\.\d+)?)([KMGT]?)i?B?$/i.exec(written) ?? [];
  if (number !== undefined) return Math.round(Number(number) * UNITS[unit!.toUpperCase()]!);
  throw bad(`--memory ${shown(written)} is not an amount of memory`, 'write for example --memory 16G');
}

function bad(message: string, hint: string): CliError {
  return new CliError({ code: 'bad-option', message, hint });
}
