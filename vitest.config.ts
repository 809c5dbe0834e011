import { availableParallelism } from 'node:os'
import { fileURLToPath } from 'node:url'
import { defineConfig } from 'vitest/config'

const at = (path: string): string => fileURLToPath(new URL(path, import.meta.url))

// Every fault at every call, every odd value at every place, every level of isolation alone: minutes, so
// `npm run test:all` has them.
export const EXHAUSTIVE = [
  'test/fuzz/every-place.test.ts',
  'test/ilp/deliver-limit-rounding.test.ts',
  'test/payments/interleavings.test.ts',
  'test/payments/one-fault.test.ts',
  'test/payments/rail-faults.test.ts',
  'test/payments/repeats.test.ts',
  'test/simulation/protections.test.ts',
  'test/storage/postgres-contract-levels.test.ts',
  'test/storage/postgres-failures.test.ts',
]

export default defineConfig({
  resolve: {
    alias: [
      { find: /^open-payments-server$/, replacement: at('./src/index.ts') },
      { find: /^open-payments-server\/testing$/, replacement: at('./src/testing/index.ts') },
      { find: /^open-payments-server\/consent$/, replacement: at('./adapters/consent/index.ts') },
      { find: /^open-payments-server\/ilp$/, replacement: at('./adapters/ilp/index.ts') },
      { find: /^open-payments-server\/(.+)$/, replacement: `${at('./adapters/')}$1.ts` },
    ],
  },
  test: {
    include: ['test/**/*.test.ts'],
    globalSetup: ['test/support/postgres-server.ts'],
    exclude: ['test/{browser,hosts,package,rails,runtimes}/**', 'test/crashes/long/**', ...EXHAUSTIVE],
    // No module holds state (a test of the architecture sees to it), so files may share one module graph.
    isolate: false,
    // Both cores of a small machine: the default leaves one of two idle.
    maxWorkers: Math.max(2, availableParallelism() - 1),
    // Most of what tests make is soon garbage: collecting it less often saves some hundredths of the time.
    execArgv: ['--max-semi-space-size=32'],
    // Not the zone that most machines have: where local time slips in, a test fails.
    env: { TZ: 'America/New_York', PROPERTY_RUNS: process.env['PROPERTY_RUNS'] ?? '0.25' },
    // For what hangs: on a machine that does much else, a test has taken fifty times as long.
    testTimeout: 60_000,
    hookTimeout: 60_000,
    // Below the limit of a test, so that it is told what was waited for. Polls of other processes have longer intervals.
    expect: { poll: { interval: 1, timeout: 50_000 } },
  },
})
