// A vitest reporter that leaves the real counts in a file for tools/test.mjs to print.

import { writeFileSync } from 'node:fs';

export default class CountReporter {
  onTestRunEnd(modules, unhandledErrors) {
    const counts = { passed: 0, failed: unhandledErrors.length, skipped: 0 };
    for (const module of modules) count(module, counts);
    writeFileSync(process.env.SLUICE_TEST_COUNTS, JSON.stringify(counts));
  }
}

function count(module, counts) {
  // A file or a suite that broke outside its tests has errors of its own and perhaps no test at all.
  counts.failed += module.errors().length;
  for (const suite of module.children.allSuites()) counts.failed += suite.errors().length;
  for (const test of module.children.allTests()) {
    const { state } = test.result();
    if (state === 'passed') counts.passed++;
    else if (state === 'skipped') counts.skipped++;
    else counts.failed++;
  }
}
