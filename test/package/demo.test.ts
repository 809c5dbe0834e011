import { execFile } from 'node:child_process'
import { fileURLToPath } from 'node:url'
import { promisify } from 'node:util'
import { expect, it } from 'vitest'

// The built program: `npm run demo` builds it first, and so does `npm run test:all`.
const DEMO = fileURLToPath(new URL('../../dist/sandbox/demo.js', import.meta.url))

it('the demo plays the whole flow, each step printed', { timeout: 60_000 }, async () => {
  const { stdout } = await promisify(execFile)(process.execPath, [DEMO], {
    env: { ...process.env, NODE_NO_WARNINGS: '1' },
  })
  expect([...stdout.matchAll(/^(\d)\. /gm)].map(([, step]) => step).join('')).toBe('12345678')
  expect(stdout).toMatch(/received +15\.00 EUR/)
})
