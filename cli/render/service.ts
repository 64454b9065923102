// What was installed or removed, and what is to be typed for it to take effect.

import { shown } from '../../schema/diagnostic.ts';
import { columns } from './columns.ts';

interface Installed {
  readonly name: string;
  readonly file: string;
  readonly became: 'new' | 'changed' | 'unchanged';
}

export function renderInstalled({ name, file, became }: Installed, json: boolean): string {
  const enable = `systemctl --user daemon-reload && systemctl --user enable --now ${name}`;
  const restart = `systemctl --user daemon-reload && systemctl --user restart ${name}`;
  if (json) return `${JSON.stringify({ name, file, status: became, next: enable })}\n`;
  return `${became}: ${shown(file)}
next: ${enable}
${became === 'changed' ? `if it runs already: ${restart}\n` : ''}its log: journalctl --user -u ${name} -f
so that it runs while you are not logged in: loginctl enable-linger
`;
}

export function renderUninstalled({ name, file }: Omit<Installed, 'became'>, json: boolean): string {
  const next = `systemctl --user stop ${name} && systemctl --user daemon-reload`;
  if (json) return `${JSON.stringify({ name, file, next })}\n`;
  return `removed ${shown(file)}\nnext: ${next}\n`;
}

interface Service {
  readonly name: string;
  readonly file: string;
  readonly directory: string;
  readonly state: string | null;
}

export function renderServices(services: readonly Service[], json: boolean): string {
  if (json) return `${JSON.stringify({ services })}\n`;
  if (services.length === 0) return 'No service is installed; next: sluice service install up\n';
  return columns(services.map(({ name, directory, state }) => [name, state ?? 'unknown', shown(directory)]));
}
