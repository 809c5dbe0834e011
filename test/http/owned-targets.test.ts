import fc from 'fast-check'
import { describe, expect, it } from 'vitest'
import { BOB, testWallet } from '../support/test-wallet.ts'

/** Where the authorization server and the resource server of a wallet may be. */
const LAYOUTS = [
  ['https://auth.wallet.example', 'https://wallet.example'],
  ['https://wallet.example/auth', 'https://wallet.example'],
  ['https://wallet.example', 'https://wallet.example/op'],
  ['https://wallet.example/op/auth', 'https://wallet.example/op'],
  ['https://wallet.example/op', 'https://wallet.example/op/rs'],
  ['https://wallet.example/op', 'https://wallet.example/op'],
] as const

const segment = fc.constantFrom(
  ...['', 'op', 'auth', 'rs', 'bob', 'BOB', 'jwks.json', 'jwks%2ejson', 'wallet-address', 'keys', 'complete'],
  ...['incoming-payments', 'quotes', 'outgoing-payments', 'outgoing-payment-grant', 'continue', 'token', 'interact'],
  ...['0'.repeat(32), '0'.repeat(44), '%30', '%2e', '%2F', '%', '%zz', '..', '.', ';a', '*', ':id', 'ä', ' ', '\\'],
)
const target = fc.oneof(
  { weight: 20, arbitrary: fc.array(segment, { minLength: 1, maxLength: 5 }).map((all) => `/${all.join('/')}`) },
  { weight: 1, arbitrary: fc.constantFrom('', '*', '/', '//', 'bob', BOB, '//wallet.example/bob', '/bob#x') },
)
const query = fc.constantFrom('', '', '?', '?a=1', `?wallet-address=${encodeURIComponent(BOB)}`, '#a')
const method = fc.constantFrom('GET', 'HEAD', 'POST', 'DELETE', 'OPTIONS', 'PUT', 'TRACE', 'CONNECT', 'get')

describe('a request', () => {
  it.each(LAYOUTS)(
    'EMB-6 is never carried out unless it is owned, at %s and %s',
    async (authServer, resourceServer) => {
      const { openPayments, events } = await testWallet({ authServer, resourceServer })
      await fc.assert(
        fc.asyncProperty(method, target, query, async (asked, path, rest) => {
          const request = { method: asked, target: path + rest, headerLines: () => [], bytes: () => new Uint8Array() }
          const isOwned = await openPayments.owns(asked, request.target)
          events.length = 0
          const { status } = await openPayments.handle(request)
          const [told] = events
          // An event names the operation of a request that has found its endpoint.
          const isAtEndpoint = told?.type === 'request' && told.operation !== undefined
          expect(status).toBeLessThan(500)
          if (isOwned) expect(isAtEndpoint || status === 405).toBe(true)
          else expect([404, 405]).toContain(status)
        }),
        { numRuns: 1000, seed: 20_260_301 },
      )
    },
  )
})
