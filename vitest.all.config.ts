import { defineConfig } from 'vitest/config'
import config from './vitest.config.ts'

const {
  CRASH_KILLS = '20',
  CRASH_SEED = '2',
  FUZZ_RUNS = '10000',
  FUZZ_SEED = '2',
  SIMULATION_RUNS = '1000',
  SIMULATION_SEED = '1000',
} = process.env

// What `npm test` leaves out: the hosts in runtimes other than this one, a database server that is killed, packages that
// are broken on purpose; and more of what goes by a seed, with another one.
export default defineConfig({
  ...config,
  test: {
    ...config.test,
    include: ['runtimes', 'fuzz', 'simulation', 'crashes'].map((folder) => `test/${folder}/**/*.test.ts`),
    exclude: [],
    env: {
      ...config.test?.env,
      CRASH_KILLS,
      CRASH_SEED,
      FUZZ_RUNS,
      FUZZ_SEED,
      SIMULATION_RUNS,
      SIMULATION_SEED,
    },
  },
})
