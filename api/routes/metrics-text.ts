// Numbers in the text format of Prometheus.

import type { Metrics } from '../store/read-metrics.ts';

type Labels = Readonly<Record<string, string>>;
type Sample = readonly [labels: Labels, value: number];

export function metricsText(
  metrics: Metrics,
  { version, nowMs }: { readonly version: string; readonly nowMs: number },
): string {
  const { states, entities, machines, events, attempts } = metrics;
  return [
    gauge('sluice_info', 'The version that answers.', [[{ version }, 1]]),
    gauge(
      'sluice_states',
      'States by workflow, stage and word.',
      states.map(({ workflow, stage, word, n }): Sample => [{ workflow, stage, word }, n]),
    ),
    gauge(
      'sluice_entities',
      'Entities by workflow.',
      entities.map(({ workflow, n }): Sample => [{ workflow }, n]),
    ),
    gauge(
      'sluice_machine_last_seen_seconds',
      'Seconds since a runner or watcher was last heard of.',
      machines.map(
        ({ role, name, lastSeenMs }): Sample => [{ role, name }, Math.max(0, nowMs - lastSeenMs) / 1_000],
      ),
    ),
    family('counter', 'sluice_events_total', 'Events ever written.', [[{}, events]]),
    family('counter', 'sluice_attempts_total', 'Attempts ever begun.', [[{}, attempts]]),
  ].join('');
}

function gauge(name: string, help: string, samples: readonly Sample[]): string {
  return family('gauge', name, help, samples);
}

function family(type: string, name: string, help: string, samples: readonly Sample[]): string {
  const lines = samples.map(([labels, value]) => `${name}${labelText(labels)} ${value}\n`);
  return `# HELP ${name} ${help}\n# TYPE ${name} ${type}\n${lines.join('')}`;
}

function labelText(labels: Labels): string {
  const pairs = Object.entries(labels).map(([name, value]) => `${name}="${escaped(value)}"`);
  return pairs.length === 0 ? '' : `{${pairs.join(',')}}`;
}

function escaped(value: string): string {
  return value.replaceAll('\\', '\\\\').replaceAll('"', '\\"').replaceAll('\n', '\\n');
}
