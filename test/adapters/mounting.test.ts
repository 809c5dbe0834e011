import { openPaymentsMiddleware } from 'open-payments-server/express'
import { toNodeListener } from 'open-payments-server/node'
import { expect, it } from 'vitest'
import { serveHandler as serveBun } from '../../adapters/bun.ts'
import { serveHandler as serveDeno } from '../../adapters/deno.ts'

const MOUNTS: Readonly<Record<string, (openPayments: never) => unknown>> = {
  'node:http': toNodeListener,
  Express: openPaymentsMiddleware,
  Bun: serveBun,
  Deno: serveDeno,
}

it.each(Object.entries(MOUNTS))('%s refuses at once what is no server', (_, mount) => {
  for (const given of [
    undefined,
    null,
    {},
    { authServer: 'https://wallet.example' },
    Promise.resolve({ owns: () => true }),
  ])
    expect(() => Reflect.apply(mount, undefined, [given])).toThrow(
      expect.objectContaining({
        name: 'ConfigurationError',
        message: 'openPayments must be what createOpenPayments returns; a promise must be awaited',
      }),
    )
})
