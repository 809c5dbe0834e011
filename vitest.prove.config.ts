import { defineConfig } from 'vitest/config'
import config from './vitest.config.ts'

// `npm run prove`: shows that the tests which the spec map names guard their rules.
export default defineConfig({
  ...config,
  test: { ...config.test, include: ['test/spec-map/prove-rows.ts'], testTimeout: 1_800_000 },
})
