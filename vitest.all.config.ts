import { defineConfig } from 'vitest/config'
import config from './vitest.config.ts'

const { FUZZ_RUNS = '10000', FUZZ_SEED = '2' } = process.env

// What `npm test` leaves out: the hosts in runtimes other than this one, and a longer fuzz with another seed.
export default defineConfig({
  ...config,
  test: {
    ...config.test,
    include: ['test/runtimes/**/*.test.ts', 'test/fuzz/**/*.test.ts'],
    exclude: [],
    env: { ...config.test?.env, FUZZ_RUNS, FUZZ_SEED },
  },
})
