import { defineConfig } from 'vitest/config'
import config from './vitest.config.ts'

// Everything that `npm test` runs, and the hosts in their own runtimes.
export default defineConfig({ ...config, test: { ...config.test, exclude: [] } })
