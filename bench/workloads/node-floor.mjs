// Starts, lists the folders of inputs and outputs, and looks at every file in them. Run in a workload's folder.

import { existsSync, readdirSync, statSync } from 'node:fs';

for (const folder of ['in', 'out', 'link']) {
  if (!existsSync(folder)) continue;
  for (const name of readdirSync(folder)) statSync(`${folder}/${name}`);
}
