import { readFileSync } from 'node:fs';
import { defineConfig } from 'vitest/config';

const { version } = JSON.parse(readFileSync(new URL('package.json', import.meta.url), 'utf8'));

export default defineConfig({
  define: { SLUICE_VERSION: JSON.stringify(version) },
  test: {
    include: ['test/**/*.test.ts'],
    benchmark: { include: ['bench/**/*.bench.ts'] },
    globalSetup: 'test/rig/global-setup.ts',
    testTimeout: 20_000,
    pool: 'forks',
  },
});
