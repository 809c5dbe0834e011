import { defineConfig } from 'vitest/config'
import config, { EXHAUSTIVE } from './vitest.config.ts'

const {
  CRASH_KILLS = '20',
  CRASH_SEED = '2',
  FUZZ_RUNS = '10000',
  FUZZ_SEED = '2',
  PROPERTY_RUNS = '1',
  SIMULATION_RUNS = '1000',
} = process.env

// What `npm test` leaves out: every runtime and framework, the packed package, a real browser, a database server that is
// killed, one level of isolation throughout, whatever is tried at every place; and more of what goes by a seed, mostly
// with another one.
export default defineConfig({
  ...config,
  test: {
    ...config.test,
    include: [
      'test/{runtimes,hosts,package,browser,fuzz,properties,simulation,crashes,rails}/**/*.test.ts',
      ...EXHAUSTIVE,
    ],
    exclude: [],
    env: {
      ...config.test?.env,
      CRASH_KILLS,
      CRASH_SEED,
      FUZZ_RUNS,
      FUZZ_SEED,
      PROPERTY_RUNS,
      SIMULATION_RUNS,
    },
  },
})
