import { alterRequest, type InMemoryRequest } from 'open-payments-server/testing'
import { describe, expect, it } from 'vitest'
import { authWallet, PLAIN_REQUEST, revoke, rotate } from './auth-wallet.ts'

const DAY = 24 * 3600 * 1000

describe('a request to a management URI', () => {
  it.each([
    ['of another scheme', ['Bearer TOKEN']],
    ['without a token', ['GNAP ']],
    ['of two lines', ['GNAP TOKEN', 'GNAP TOKEN']],
  ])('RS-2 TOK-3 whose Authorization header is %s is 401 invalid_client', async (_name, lines) => {
    const wallet = await authWallet()
    const grant = await wallet.ask(PLAIN_REQUEST)
    const authorization = lines.map((line) => line.replaceAll('TOKEN', grant.body.access_token.value))
    const alter = (request: InMemoryRequest): InMemoryRequest => alterRequest(request, { headers: { authorization } })
    await wallet.expectRefusal(401, 'invalid_client', () => rotate(wallet, grant, { alter }))
    await wallet.expectRefusal(401, 'invalid_client', () => revoke(wallet, grant, { alter }))
    // One that is signed as it is sent, so that nothing but its form is wrong.
    const [line = ''] = authorization
    const { manage } = grant.body.access_token
    const signed = { headers: { authorization: line } }
    if (lines.length === 1) await wallet.expectRefusal(401, 'invalid_client', () => wallet.send('POST', manage, signed))
    expect((await rotate(wallet, grant)).status).toBe(200)
  })

  it.each(['{}', '{ }', '{\r\n\t}', ' '])('DIG-8 asks for nothing with the body %j', async (body) => {
    const wallet = await authWallet()
    expect((await rotate(wallet, await wallet.ask(PLAIN_REQUEST), { body })).status).toBe(200)
  })
})

describe('a token that was rotated', () => {
  it('TOK-7 TOK-9 is known for 30 days more, and swept then', async () => {
    const wallet = await authWallet()
    const grant = await wallet.ask(PLAIN_REQUEST)
    const first = await rotate(wallet, grant)
    await wallet.openPayments.sweep()
    expect((await rotate(wallet, grant)).body.access_token.value).toBe(first.body.access_token.value)
    wallet.clock.advance(30 * DAY - 1)
    await wallet.openPayments.sweep()
    expect((await revoke(wallet, grant)).status).toBe(204)
    wallet.clock.advance(1)
    await wallet.openPayments.sweep()
    await wallet.expectRefusal(401, 'invalid_client', () => revoke(wallet, grant))
  })
})
