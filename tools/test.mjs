// `npm test`: every check there is, then one line of counts. A step that fails does not hide the ones after it.

import { spawnSync } from 'node:child_process';
import { mkdtempSync, readFileSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { delimiter, join } from 'node:path';
import { ensureDebianPackages } from './debian-packages.mjs';

const scratch = mkdtempSync(join(tmpdir(), 'sluice-counts-'));
const countsFile = join(scratch, 'counts.json');

const failedSteps = [
  step('packages', ensureDebianPackages),
  step('build', () => succeeds('node', 'build.mjs')),
  step('types', () => succeeds('tsc', '-p', '.')),
  step('style', () => succeeds('biome', 'check')),
].filter((name) => name !== null);

console.log('== tests');
const reporters = ['--reporter=default', '--reporter=./tools/count-reporter.mjs'];
const testsOk = succeeds('vitest', 'run', ...reporters, ...process.argv.slice(2));
finish(readCounts(), testsOk);

function step(name, work) {
  console.log(`== ${name}`);
  return work() ? null : name;
}

function succeeds(command, ...args) {
  const PATH = `${join('node_modules', '.bin')}${delimiter}${process.env.PATH}`;
  const env = { ...process.env, PATH, SLUICE_TEST_COUNTS: countsFile };
  return spawnSync(command, args, { stdio: 'inherit', env }).status === 0;
}

function readCounts() {
  try {
    return JSON.parse(readFileSync(countsFile, 'utf8'));
  } catch {
    console.log('vitest ended without counts');
    return { passed: 0, failed: 1, skipped: 0 };
  } finally {
    rmSync(scratch, { recursive: true, force: true });
  }
}

/** Failed steps count as failures, and so does a vitest that is unhappy for a reason no count shows. */
function finish({ passed, failed, skipped }, testsOk) {
  if (failedSteps.length > 0) console.log(`failed before the tests: ${failedSteps.join(', ')}`);
  const failures = Math.max(failed, testsOk ? 0 : 1) + failedSteps.length;
  console.log(`${passed} passed, ${failures} failed${skipped > 0 ? `, ${skipped} skipped` : ''}`);
  process.exitCode = failures === 0 ? 0 : 1;
}
