import { availableParallelism } from 'node:os'
import { fileURLToPath } from 'node:url'
import { defineConfig } from 'vitest/config'

const at = (path: string): string => fileURLToPath(new URL(path, import.meta.url))

export default defineConfig({
  resolve: {
    alias: [
      { find: /^open-payments-server$/, replacement: at('./src/index.ts') },
      { find: /^open-payments-server\/testing$/, replacement: at('./src/testing/index.ts') },
      { find: /^open-payments-server\/consent$/, replacement: at('./adapters/consent/index.ts') },
      { find: /^open-payments-server\/(.+)$/, replacement: `${at('./adapters/')}$1.ts` },
    ],
  },
  test: {
    include: ['test/**/*.test.ts'],
    globalSetup: ['test/support/postgres-server.ts'],
    exclude: ['test/runtimes/**', 'test/crashes/long/**'],
    // No module holds state (a test of the architecture sees to it), so files may share one module graph.
    isolate: false,
    // Both cores of a small machine: the default leaves one of two idle.
    maxWorkers: Math.max(2, availableParallelism() - 1),
    // Not the zone that most machines have: where local time slips in, a test fails.
    env: { TZ: 'America/New_York' },
    testTimeout: 20_000,
  },
})
