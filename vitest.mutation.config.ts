import { defineConfig } from 'vitest/config'
import config from './vitest.config.ts'

// `npm run mutate`: the tests of the rooms that are mutated. All others would run for each mutant that they reach.
export default defineConfig({
  ...config,
  test: {
    ...config.test,
    include: ['test/{ase,auth-server,http,http-signatures,protocol,resource-server,vectors}/**/*.test.ts'],
    globalSetup: [],
  },
})
