import { createHash } from 'node:crypto'
import { describe, expect, it } from 'vitest'
import { keyRegistry, remoteClient } from '../support/key-registry.ts'
import { type Answer, AUTH, CLIENT, directedClient } from '../support/test-wallet.ts'
import { type AuthWallet, authWallet, cancel, PLAIN_REQUEST, resume, revoke, rotate } from './auth-wallet.ts'

const acts: readonly (readonly [string, (wallet: AuthWallet, grant: Answer) => Promise<Answer>])[] = [
  ['post-request', (wallet) => wallet.ask(PLAIN_REQUEST)],
  ['discover', (wallet) => wallet.send('OPTIONS', `${AUTH}/`)],
  ['post-continue', (wallet, grant) => resume(wallet, grant)],
  ['delete-continue', (wallet, grant) => cancel(wallet, grant)],
  ['post-token', (wallet, grant) => rotate(wallet, grant)],
  ['delete-token', (wallet, grant) => revoke(wallet, grant)],
  ['interact', (wallet) => wallet.send('GET', `${AUTH}/interact/x`)],
]

describe('an endpoint of the authorization server', () => {
  it.each(acts)('%s is named in the event of its request', async (operation, act) => {
    const wallet = await authWallet()
    const grant = await wallet.ask(PLAIN_REQUEST)
    wallet.events.length = 0
    const { status } = await act(wallet, grant)
    expect(wallet.events).toContainEqual(expect.objectContaining({ type: 'request', operation, status }))
  })

  it('names who has proved to have sent a request in its event, also where it is refused, and nobody else', async () => {
    const wallet = await authWallet()
    const directed = await directedClient()
    const named = async (act: () => Promise<Answer>): Promise<unknown> => {
      wallet.events.length = 0
      const { status } = await act()
      const { client, ...event } = { client: undefined, ...wallet.events.find(({ type }) => type === 'request') }
      expect(event).toMatchObject({ status })
      return [status, client]
    }
    expect(await named(() => wallet.ask(PLAIN_REQUEST))).toEqual([200, CLIENT])
    expect(await named(() => wallet.ask({ ...PLAIN_REQUEST, access_token: 1 }))).toEqual([400, CLIENT])
    const asKey = { ...PLAIN_REQUEST, client: directed.client }
    const thumbprint = createHash('sha256').update(`{"crv":"Ed25519","kty":"OKP","x":"${directed.key.jwk.x}"}`)
    const identity = `jwk:${thumbprint.digest('base64url')}`
    expect(await named(() => wallet.ask(asKey, { as: directed }))).toEqual([200, identity])
    // Signed with another key under the id of the client's own.
    const forger = { as: await directedClient(wallet.client.key.keyId) }
    expect(await named(() => wallet.ask(PLAIN_REQUEST, forger))).toEqual([401, undefined])
    expect(await named(() => wallet.send('OPTIONS', `${AUTH}/`))).toEqual([200, undefined])
  })

  it.each([
    ['delete-continue', cancel],
    ['delete-token', revoke],
  ])('DIG-8 %s has no body', async (_operation, end) => {
    const wallet = await authWallet()
    const grant = await wallet.ask(PLAIN_REQUEST)
    await wallet.expectRefusal(400, 'invalid_request', () => end(wallet, grant, { json: {} }))
    expect((await end(wallet, grant)).status).toBe(204)
  })

  it('KEY-13 D9 gives a directed identity its grant where grants are bound to keys, too', async () => {
    const wallet = await authWallet({ settings: { policies: { keyBinding: 'key' } } })
    const as = await directedClient()
    const grant = await wallet.ask({ ...PLAIN_REQUEST, client: as.client }, { as })
    expect(grant.status).toBe(200)
    expect((await rotate(wallet, grant, { as })).status).toBe(200)
  })

  it.each([
    [true, 200],
    [false, 400],
  ])('WAS-2 knows a client at a loopback address where the policy says %s: %i', async (loopbackHttp, status) => {
    const keyResolver = keyRegistry()
    const wallet = await authWallet({ keyResolver, settings: { policies: { loopbackHttp } } })
    const client = 'http://localhost:3000/pay'
    const as = await remoteClient(keyResolver, client)
    expect((await wallet.ask({ ...PLAIN_REQUEST, client }, { as })).status).toBe(status)
  })
})
