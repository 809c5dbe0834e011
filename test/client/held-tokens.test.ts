import { describe, expect, it } from 'vitest'
import { type AccessTokens, accessTokens } from '../../src/client/access-tokens.ts'
import { derivedServerKeys } from '../../src/http-signatures/server-keys.ts'
import { isObject } from '../../src/protocol/is-object.ts'
import { derivedSecrets } from '../../src/runtime/derived-secrets.ts'
import { fakeClock } from '../support/fake-clock.ts'
import { cryptography } from '../support/test-wallet.ts'
import { OUR_SECRETS } from './scene.ts'
import { AUTH_SERVER, COLLECTION, MANAGE, tokenDocument } from './stand-in.ts'

const secrets = derivedSecrets(OUR_SECRETS, cryptography)

/** Holds tokens of authorization servers that grant everything, and take so long for it. Notes what each is asked, and how. */
function holder(clock = fakeClock(), milliseconds = 0, asked: string[] = []): AccessTokens {
  return accessTokens({
    clock,
    serverKeys: derivedServerKeys(secrets, cryptography),
    async sendSigned({ url }, { standing }) {
      asked.push(`${url} ${standing}`)
      clock.advance(milliseconds)
      return { ok: true, status: 200, document: tokenDocument() }
    },
  })
}

const isHeld = async (tokens: AccessTokens, collection = COLLECTION): Promise<boolean> => {
  const result = await tokens.tokenFor(collection, AUTH_SERVER, 'known')
  return result.ok && !result.isNew
}

describe('the tokens of other servers that are held', () => {
  it('T-5 are at most 1000, of which the one unused for longest makes room', async () => {
    const tokens = holder()
    expect(await isHeld(tokens)).toBe(false)
    for (let at = 0; at < 999; at++) await isHeld(tokens, `https://n${at}.example/incoming-payments`)
    expect(await isHeld(tokens)).toBe(true)
    expect(await isHeld(tokens, 'https://n999.example/incoming-payments')).toBe(false)
    expect(await isHeld(tokens)).toBe(true)
    expect(await isHeld(tokens, 'https://n0.example/incoming-payments')).toBe(false)
  })

  it('T-5 are pushed out by no host that has more than a hundred', async () => {
    const tokens = holder()
    await isHeld(tokens)
    for (let at = 0; at < 1100; at++) await isHeld(tokens, `https://evil-${at % 9}.example/${at}/incoming-payments`)
    expect(await isHeld(tokens)).toBe(true)
  })

  it('T-5 the name by which a server takes this one is pushed out by no host that has more than a hundred', async () => {
    const clients: unknown[] = []
    const tokens = accessTokens({
      clock: fakeClock(),
      serverKeys: derivedServerKeys(secrets, cryptography),
      clientWalletAddress: 'https://wallet.example',
      async sendSigned({ json }) {
        const client = isObject(json) ? json['client'] : undefined
        clients.push(client)
        return typeof client === 'string'
          ? { ok: true, status: 200, document: tokenDocument() }
          : { ok: true, status: 401, document: {} }
      },
    })
    const ask = (name: string, authServer: string) =>
      tokens.tokenFor(`https://${name}.example/incoming-payments`, authServer, 'known')
    await ask('one', AUTH_SERVER)
    expect(clients).toEqual([{ jwk: expect.anything() }, 'https://wallet.example'])
    for (let at = 0; at < 1100; at++) await ask(`n${at}`, `https://evil-${at % 9}.example/${at}`)
    clients.splice(0)
    await ask('other', AUTH_SERVER)
    expect(clients).toEqual(['https://wallet.example'])
  })

  it('last from the moment when they were asked for, not from the answer: a grant, and a rotation', async () => {
    const clock = fakeClock()
    const tokens = holder(clock, 2000)
    for (const _ of ['granted', 'rotated']) {
      expect(await isHeld(tokens)).toBe(false)
      clock.advance(597_999)
      expect(await isHeld(tokens)).toBe(true)
      clock.advance(1)
    }
    expect(await isHeld(tokens)).toBe(false)
  })

  it('T-5 are rotated as those of a server that is known, and for an order as ordered', async () => {
    const clock = fakeClock()
    const asked: string[] = []
    const tokens = holder(clock, 0, asked)
    for (const standing of ['stranger', 'stranger', 'known', 'ordered'] as const) {
      await tokens.tokenFor(COLLECTION, AUTH_SERVER, standing)
      clock.advance(600_000)
    }
    expect(asked).toEqual([
      `${AUTH_SERVER} stranger`,
      ...['known', 'known', 'ordered'].map((one) => `${MANAGE} ${one}`),
    ])
  })
})
