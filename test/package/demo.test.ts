import { execFile } from 'node:child_process'
import { fileURLToPath } from 'node:url'
import { promisify } from 'node:util'
import { expect, it } from 'vitest'

// The built program: `npm run demo` builds it first, and so does `npm run test:all`.
const DEMO = fileURLToPath(new URL('../../dist/sandbox/demo.js', import.meta.url))

it('the demo plays the whole flow between two wallets, each step printed', { timeout: 60_000 }, async () => {
  const { stdout, stderr } = await promisify(execFile)(process.execPath, [DEMO], {
    env: { ...process.env, NODE_NO_WARNINGS: '1' },
  })
  expect(stderr).toBe('')
  expect([...stdout.matchAll(/^(\d)\. /gm)].map(([, step]) => step).join('')).toBe('123456789')
  const printed = (pattern: RegExp): string => pattern.exec(stdout)?.[1] ?? ''
  expect(printed(/payer +(http:\/\/localhost:\d+)/)).not.toBe(printed(/payee +(http:\/\/localhost:\d+)/))
  expect(printed(/received +(\S+ EUR)/)).toBe('15.00 EUR')

  // What Alice was quoted she has paid, and what one wallet has sent is what the other has received.
  const quoted = Number(printed(/to be sent +(\S+) USD/))
  expect(Number(printed(/\/alice +([\d.]+) USD/))).toBeCloseTo(1000 - quoted, 5)
  expect(printed(/\/chloe +([\d.]+) EUR/)).toBe('765.00')
  const sent = printed(/test\.second +(\S+) USD sent/)
  expect(printed(/test\.first .*, (\S+) USD received/)).toBe(sent)
  expect(Number(sent)).toBeGreaterThan(15)
  expect(Number(sent)).toBeLessThanOrEqual(quoted)
})
