import { execFileSync } from 'node:child_process'
import { fileURLToPath } from 'node:url'
import { describe, expect, it } from 'vitest'

const ROOT = fileURLToPath(new URL('../../', import.meta.url))
const SCRIPT = 'test/runtimes/ed25519-verdicts.ts'

describe('the cryptography of each runtime', () => {
  it.each([
    ['bun', ['run', SCRIPT]],
    ['deno', ['run', '--no-lock', '--allow-read=.', SCRIPT]],
  ] as const)(
    'SIG-28 of %s takes a signature, and refuses S >= L, 63 bytes, and what needs the cofactor',
    (name, parameters) => {
      const env = { PATH: process.env['PATH'], HOME: process.env['HOME'], NO_COLOR: '1' }
      const printed = execFileSync(`${ROOT}node_modules/.bin/${name}`, parameters, { cwd: ROOT, env, encoding: 'utf8' })
      expect(JSON.parse(printed)).toEqual([true, false, false, false])
    },
  )
})
