import { defineConfig } from 'vitest/config'
import config from './vitest.config.ts'

// What `npm test` leaves out: the hosts in runtimes other than this one.
export default defineConfig({
  ...config,
  test: { ...config.test, include: ['test/runtimes/**/*.test.ts'], exclude: [] },
})
