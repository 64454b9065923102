// The same for launchd: a property list for ~/Library/LaunchAgents.

import { OURS, type ServicePlan } from './service-plan.ts';

export function launchdPlist({ name, command, directory, path, stopSeconds }: ServicePlan): string {
  const words = command.map((word) => `    ${string(word)}\n`).join('');
  return `<?xml version="1.0" encoding="UTF-8"?>
<!DOCTYPE plist PUBLIC "-//Apple//DTD PLIST 1.0//EN" "http://www.apple.com/DTDs/PropertyList-1.0.dtd">
<!-- ${OURS.slice(2)} -->
<plist version="1.0">
<dict>
  <key>Label</key>
  ${string(name)}
  <key>ProgramArguments</key>
  <array>
${words}  </array>
  <key>WorkingDirectory</key>
  ${string(directory)}
  <key>EnvironmentVariables</key>
  <dict>
    <key>PATH</key>
    ${string(path)}
  </dict>
  <key>RunAtLoad</key>
  <true/>
  <key>KeepAlive</key>
  <dict>
    <key>SuccessfulExit</key>
    <false/>
  </dict>
  <key>ExitTimeOut</key>
  <integer>${stopSeconds}</integer>
</dict>
</plist>
`;
}

function string(text: string): string {
  return `<string>${text.replaceAll('&', '&amp;').replaceAll('<', '&lt;').replaceAll('>', '&gt;')}</string>`;
}
