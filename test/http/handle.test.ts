import type { HttpRequest } from 'open-payments-server'
import { describe, expect, it } from 'vitest'
import { grantTokens, moneyWorld, preparePayment, signedBy } from '../payments/money-world.ts'
import { BASE, testWallet } from '../support/test-wallet.ts'

describe('an unknown path', () => {
  const [OUTER, INNER] = [BASE, `${BASE}/op`]

  // The one with the longest base that holds the path; where both have one base, the resource server.
  it.each([
    ['/op/none', OUTER, INNER, 'not_found'],
    ['/op/none?x=1', OUTER, INNER, 'not_found'],
    ['/none', OUTER, INNER, 'invalid_request'],
    ['/opera', OUTER, INNER, 'invalid_request'],
    ['/op/none', INNER, OUTER, 'invalid_request'],
    ['/op/?x=1', INNER, OUTER, 'invalid_request'],
    ['/none', INNER, OUTER, 'not_found'],
    ['/opera', INNER, OUTER, 'not_found'],
    ['/none', 'https://auth.wallet.example', OUTER, 'not_found'],
  ])('is refused in the form of the server that it belongs to: PUT %s, with %s and %s', async (target, ...rest) => {
    const [authServer, resourceServer, code] = rest
    const wallet = await testWallet({ authServer, resourceServer, walletAddressServer: BASE })
    const bytes = new Uint8Array()
    const answer = await wallet.sendRaw({ method: 'PUT', target, headerLines: () => [], bytes: () => bytes })
    expect(answer.body.error.code).toBe(code)
  })
})

describe('handle', () => {
  // A host in JavaScript may hand over whatever it likes.
  it.each(['GET', 'POST'])('answers a %s without a target, too', async (method) => {
    const { openPayments } = await testWallet()
    const request: HttpRequest = { method, target: '', headerLines: () => [], bytes: () => new Uint8Array() }
    Reflect.deleteProperty(request, 'target')
    expect(await openPayments.handle(request)).toMatchObject({ status: 500 })
  })

  it('answers though the clock of the host fails, and tells why', async () => {
    const wallet = await testWallet()
    const cause = new Error('no time')
    wallet.clock.now = () => {
      throw cause
    }
    const request: HttpRequest = {
      method: 'GET',
      target: '/alice',
      headerLines: () => [],
      bytes: () => new Uint8Array(),
    }
    expect(await wallet.openPayments.handle(request)).toMatchObject({ status: 500 })
    expect(wallet.events).toContainEqual(expect.objectContaining({ type: 'fault', cause }))
  })

  it('answers as ever where the host cannot be told of the work that goes on', async () => {
    const world = await moneyWorld()
    const { token, body } = await preparePayment(world, await grantTokens(world))
    const { openPayments } = world.start()
    const cause = new TypeError('Illegal invocation')
    const waitUntil = (): never => {
      throw cause
    }
    const request = await signedBy(world, 'POST', `${BASE}/outgoing-payments`, token, body)
    expect(await openPayments.handle(request, { waitUntil })).toMatchObject({ status: 201 })
    expect(world.wallet.events).toContainEqual(expect.objectContaining({ type: 'fault', cause }))
    await openPayments.drain()
    expect(await world.storage.all('outgoing-payment')).toMatchObject([{ value: { state: 'completed' } }])
  })

  // As a Worker's execution context is: a method of a class that needs its object.
  it.each(['handle', 'fetch'] as const)("hands the work that goes on to the host's own object: %s", async (name) => {
    class ExecutionContext {
      readonly #works: Promise<unknown>[] = []
      waitUntil(work: Promise<unknown>): void {
        this.#works.push(work)
      }
      async settled(): Promise<number> {
        return (await Promise.all(this.#works)).length
      }
    }
    const world = await moneyWorld()
    const { token, body } = await preparePayment(world, await grantTokens(world))
    const { openPayments } = world.start()
    const host = new ExecutionContext()
    const url = `${BASE}/outgoing-payments`
    const signed = await signedBy(world, 'POST', url, token, body)
    const headers = Object.entries(signed.headers).map(([field, [line = '']]): [string, string] => [field, line])
    const request = new Request(url, { method: 'POST', headers, body: JSON.stringify(body) })
    expect(
      await (name === 'handle' ? openPayments.handle(signed, host) : openPayments.fetch(request, host)),
    ).toMatchObject({ status: 201 })
    expect(await host.settled()).toBeGreaterThan(0)
    expect(world.wallet.events.filter(({ type }) => type === 'fault')).toEqual([])
    expect(await world.storage.all('outgoing-payment')).toMatchObject([{ value: { state: 'completed' } }])
  })
})
