import { alterRequest, type InMemoryRequest } from 'open-payments-server/testing'
import { afterEach, describe, expect, it, vi } from 'vitest'
import { authWallet, PLAIN_REQUEST } from '../auth-server/auth-wallet.ts'
import { BASE, BOB, grantAtOnce } from '../support/test-wallet.ts'

afterEach(() => void vi.restoreAllMocks())

/** How often JSON with a mark in it is parsed while something runs. */
async function countParsed(mark: string, run: () => Promise<unknown>): Promise<number> {
  const parse = vi.spyOn(JSON, 'parse')
  await run()
  return parse.mock.calls.filter(([text]) => String(text).startsWith(mark)).length
}

describe('the body of a request', () => {
  it('EMB-3 is parsed once, where its client is read from it before its members are', async () => {
    const wallet = await authWallet()
    const body = JSON.stringify({ more: 1, ...PLAIN_REQUEST })
    const count = await countParsed('{"more":1', async () =>
      expect((await wallet.ask(undefined, { body })).status).toBe(200),
    )
    expect(count).toBe(1)
  })

  it('EMB-3 is not parsed where its digest or its signature is wrong', async () => {
    const wallet = await authWallet()
    const token = (await grantAtOnce(wallet, [{ type: 'incoming-payment', actions: ['create'] }])).body.access_token
      .value
    const json = { metadata: { mark: 1 }, walletAddress: BOB }
    const spoil = (name: string) => (request: InMemoryRequest) =>
      alterRequest(request, {
        headers: { [name]: [(request.headerLines(name)[0] ?? '').replace(/:[A-Za-z0-9+/]/, ':_')] },
      })
    const otherKey = (request: InMemoryRequest): InMemoryRequest => {
      const [line = ''] = request.headerLines('signature')
      const at = line.indexOf(':') + 9
      return alterRequest(request, {
        headers: { signature: [line.slice(0, at) + (line[at] === 'A' ? 'B' : 'A') + line.slice(at + 1)] },
      })
    }
    for (const alter of [spoil('content-digest'), spoil('signature'), otherKey]) {
      const count = await countParsed('{"metadata":', async () => {
        const { status } = await wallet.send('POST', `${BASE}/incoming-payments`, { token, json, alter })
        expect(status).toBe(401)
      })
      expect(count).toBe(0)
    }
    const count = await countParsed('{"metadata":', async () => {
      expect((await wallet.send('POST', `${BASE}/incoming-payments`, { token, json })).status).toBe(201)
    })
    expect(count).toBe(1)
  })

  it('EMB-3 a grant request with a wrong digest is refused for that, whatever its body is', async () => {
    const wallet = await authWallet()
    const alter = (request: InMemoryRequest): InMemoryRequest => alterRequest(request, { body: '['.repeat(100) })
    await wallet.expectRefusal(401, 'invalid_client', () => wallet.ask(PLAIN_REQUEST, { alter }))
  })
})
