// A systemd user unit for a command of Sluice that runs until it is stopped.

import { OURS, type ServicePlan } from './service-plan.ts';

export function systemdUnit({ title, command, directory, path, stopSeconds }: ServicePlan): string {
  return `${OURS}
[Unit]
Description=${specifiersEscaped(title)}

[Service]
Type=exec
WorkingDirectory=${specifiersEscaped(directory)}
ExecStart=${command.map((word, i) => quoted(i === 0 ? `:${word}` : word)).join(' ')}
Environment=${quoted(`PATH=${path}`)}
Restart=on-failure
RestartSec=5
# The first SIGTERM goes to sluice alone, which lets its commands end; what is left after that is killed.
KillMode=mixed
KillSignal=SIGTERM
TimeoutStopSec=${stopSeconds}

[Install]
WantedBy=default.target
`;
}

/** One word, whatever is in it. Dollars stay, because the program is marked with ':', which says so. */
function quoted(word: string): string {
  return `"${specifiersEscaped(word).replaceAll('\\', '\\\\').replaceAll('"', '\\"')}"`;
}

/** `%h` would be the home directory. */
function specifiersEscaped(text: string): string {
  return text.replaceAll('%', '%%');
}
