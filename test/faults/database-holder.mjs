// Holds the write lock of a database file from its first line of input to its second; started by the fault tests.

import { createInterface } from 'node:readline';
import Libsql from 'libsql';

const raw = new Libsql(process.argv[2], { timeout: 5_000 });
const steps = { lock: 'BEGIN IMMEDIATE', free: 'COMMIT' };

for await (const line of createInterface({ input: process.stdin })) {
  raw.exec(steps[line]);
  process.stdout.write(`${line} done\n`);
}
