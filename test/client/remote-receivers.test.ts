import { validateSignature } from '@interledger/http-signature-utils'
import { describe, expect, it } from 'vitest'
import { derivedServerKeys } from '../../src/http-signatures/server-keys.ts'
import { derivedSecrets } from '../../src/runtime/derived-secrets.ts'
import { jsonReply } from '../key-resolver/fake-network.ts'
import { requestViolations } from '../support/open-api.ts'
import { ALICE, AUTH, BASE, BOB, cryptography, incomingPayment, usd, usdAmount } from '../support/test-wallet.ts'
import { type Internet, jsonOf, lines } from './internet.ts'
import { OUR_SECRETS, readerOn, scene } from './scene.ts'
import { MANAGE, RECEIVER, standIn, TOKEN } from './stand-in.ts'

const secrets = derivedSecrets(OUR_SECRETS, cryptography)

/** The tokens that were sent, in order. */
function tokensOf({ connections }: Internet): readonly string[] {
  return connections.flatMap(({ headers }) => headers['authorization'] ?? [])
}

describe('an incoming payment on another server', () => {
  it('QUO-9 is read by the public view, a grant and a signed request', async () => {
    const { wallet, world, receivers } = await scene()
    const { payment } = await incomingPayment(wallet, { incomingAmount: usd('250') })
    expect(await receivers.find(payment.id)).toEqual({
      ok: true,
      payment: {
        url: payment.id,
        walletAddress: BOB,
        isCompleted: false,
        incomingAmount: usdAmount(250n),
        receivedAmount: usdAmount(0n),
        expiresAt: Date.parse(payment.expiresAt),
        methods: payment.methods,
      },
    })
    expect(lines(world)).toEqual([`GET ${payment.id}`, `signed POST ${AUTH}/`, `signed GET ${payment.id}`])
    expect(world.lookups).toEqual(['wallet.example', 'auth.wallet.example', 'wallet.example'])
  })

  it('QUO-9 is asked for with requests of the published form, which the official library verifies', async () => {
    const { wallet, world, receivers } = await scene()
    const { payment } = await incomingPayment(wallet)
    await receivers.find(payment.id)
    wallet.clock.advance(600_000)
    await receivers.find(payment.id)
    const { jwk } = await derivedServerKeys(secrets, cryptography).current()
    const [, grant, , rotation, again] = world.connections
    const signed = world.connections.filter(({ headers }) => 'signature' in headers)
    expect(signed).toHaveLength(4)
    for (const { url, method, headers, body } of signed) {
      const request = { url: url.href, method, headers: { ...headers }, body: new TextDecoder().decode(body) }
      expect(await validateSignature({ ...jwk, alg: 'EdDSA', use: 'sig' }, request)).toBe(true)
      expect(await validateSignature({ ...jwk, alg: 'EdDSA', use: 'sig' }, { ...request, url: `${url.href}x` })).toBe(
        false,
      )
      const covered = headers['signature-input']
      expect(covered).toMatch(/^sig1=\("@method" "@target-uri"/)
      expect(covered).toContain(`keyid="${jwk.kid}"`)
      if (body === undefined) expect(covered).toContain('"authorization"')
      else expect(covered).toContain('"content-digest"')
    }
    expect(grant && requestViolations('post-request', jsonOf(grant))).toEqual([])
    expect(grant && jsonOf(grant)).toEqual({
      access_token: { access: [{ type: 'incoming-payment', actions: ['read-all'] }] },
      client: { jwk },
    })
    expect(rotation && requestViolations('post-token', jsonOf(rotation))).toEqual([])
    expect(again && requestViolations('get-incoming-payment', jsonOf(again))).toEqual([])
  })

  it('is read with the token that is held, and by a request of its own each time', async () => {
    const { wallet, world, receivers } = await scene({ settings: { policies: { replay: 'all' } } })
    const { payment } = await incomingPayment(wallet)
    wallet.clock.advance(1000)
    const { payment: other } = await incomingPayment(wallet, { walletAddress: ALICE })
    await receivers.find(payment.id)
    world.connections.length = 0
    for (const { id } of [payment, payment, other]) expect(await receivers.find(id)).toMatchObject({ ok: true })
    expect(lines(world)).toEqual([payment, payment, other].map(({ id }) => `signed GET ${id}`))
    expect(new Set(tokensOf(world)).size).toBe(1)
    expect(new Set(world.connections.map(({ headers }) => headers['signature'])).size).toBe(3)
  })

  it('T-45 is read again each time: what changed is seen', async () => {
    const { wallet, receivers } = await scene()
    const { payment, token } = await incomingPayment(wallet, { incomingAmount: usd('250') })
    await receivers.find(payment.id)
    await wallet.openPayments.incomingPayments.received(payment.id.slice(-44), usdAmount(100n), 'transfer-1')
    expect(await receivers.find(payment.id)).toMatchObject({ payment: { receivedAmount: usdAmount(100n) } })
    await wallet.send('POST', `${payment.id}/complete`, { token })
    expect(await receivers.find(payment.id)).toMatchObject({ payment: { isCompleted: true, methods: [] } })
  })

  it('is told from one that its server does not know', async () => {
    const { wallet, world, receivers } = await scene()
    const { payment } = await incomingPayment(wallet)
    const gone = `${BASE}/incoming-payments/${'0'.repeat(32)}`
    expect(await receivers.find(gone)).toEqual({ ok: false, reason: 'unknown', detail: 'public view: status 404' })
    await receivers.find(payment.id)
    world.connections.length = 0
    expect(await receivers.find(gone)).toEqual({ ok: false, reason: 'unknown', detail: 'incoming payment: status 404' })
    expect(lines(world)).toEqual([`signed GET ${gone}`])
    world.connections.length = 0
    await receivers.find(payment.id)
    expect(lines(world)).toEqual([`signed GET ${payment.id}`])
  })

  it('T-4 is read once by all who ask for it at once, and all who read there share one grant', async () => {
    const { wallet, world, receivers } = await scene()
    const { payment } = await incomingPayment(wallet)
    const { payment: other } = await incomingPayment(wallet)
    const ids = [payment.id, payment.id, other.id, payment.id, other.id]
    const found = await Promise.all(ids.map((id) => receivers.find(id)))
    expect(found.map((one) => one.ok && one.payment.url)).toEqual(ids)
    expect(lines(world).sort()).toEqual(
      [payment, other]
        .flatMap(({ id }) => [`GET ${id}`, `signed GET ${id}`])
        .concat(`signed POST ${AUTH}/`)
        .sort(),
    )
  })

  it('is found by any spelling of its URL, and by nothing that is none', async () => {
    const { wallet, world, receivers } = await scene()
    const { payment } = await incomingPayment(wallet)
    expect(await receivers.find(payment.id.replace('wallet', 'WALLET'))).toMatchObject({ payment: { url: payment.id } })
    world.connections.length = 0
    for (const url of [`${BASE}/quotes/1`, `${payment.id}?`, 'wallet.example', '', BOB])
      expect(await receivers.find(url)).toMatchObject({ ok: false, reason: 'invalid' })
    expect(world.connections).toEqual([])
  })
})

describe('an access token of another server', () => {
  it('is rotated once it has expired, not a moment before', async () => {
    const { wallet, world, receivers } = await scene()
    const { payment } = await incomingPayment(wallet)
    await receivers.find(payment.id)
    const [first] = tokensOf(world)
    wallet.clock.advance(599_999)
    await receivers.find(payment.id)
    world.connections.length = 0
    wallet.clock.advance(1)
    expect(await receivers.find(payment.id)).toMatchObject({ ok: true })
    expect(lines(world)).toEqual([
      expect.stringMatching(/^signed POST https:\/\/auth\.wallet\.example\/token\/[0-9a-f]{44}$/),
      `signed GET ${payment.id}`,
    ])
    const [presented, second] = tokensOf(world)
    expect([presented, second]).toEqual([first, expect.not.stringMatching(first ?? '')])
    world.connections.length = 0
    await receivers.find(payment.id)
    expect(tokensOf(world)).toEqual([second])
  })

  it('is rotated by a request that is signed for the URL as it is requested, however that was written', async () => {
    const { world, clock, answers, receivers } = standIn()
    const written = { access_token: { value: TOKEN, manage: 'https://AUTH.example:443/x/../token/1', expires_in: 600 } }
    answers.grant = () => jsonReply(written)
    await receivers.find(RECEIVER)
    clock.advance(600_000)
    await receivers.find(RECEIVER)
    const { jwk } = await derivedServerKeys(secrets, cryptography).current()
    const [rotation] = world.connections.filter(({ url }) => url.href === MANAGE)
    if (rotation === undefined) throw new Error('it was not rotated')
    const request = { url: MANAGE, method: 'POST', headers: { ...rotation.headers } }
    expect(await validateSignature({ ...jwk, alg: 'EdDSA', use: 'sig' }, request)).toBe(true)
  })

  it('is asked for and used by requests that are signed at a second which has begun', async () => {
    const { world, clock, receivers } = standIn()
    clock.advance(999)
    await receivers.find(RECEIVER)
    const inputs = world.connections.flatMap(({ headers }) => headers['signature-input'] ?? [])
    const created = inputs.map((input) => Number(/;created=(\d+)/.exec(input)?.[1]))
    expect(created).toEqual([Math.floor(clock.now() / 1000), Math.floor(clock.now() / 1000)])
  })

  it('is rotated once by all who need it at once', async () => {
    const { wallet, world, receivers } = await scene()
    const { payment } = await incomingPayment(wallet)
    const { payment: other } = await incomingPayment(wallet)
    await receivers.find(payment.id)
    wallet.clock.advance(600_000)
    world.connections.length = 0
    await Promise.all([payment, other].map(({ id }) => receivers.find(id)))
    expect(lines(world).filter((line) => line.includes('POST'))).toHaveLength(1)
  })

  it('is asked for again where the other side has forgotten it, and where it is rotated no more', async () => {
    const { wallet, world, receivers } = await scene()
    const { payment } = await incomingPayment(wallet)
    await receivers.find(payment.id)
    wallet.clock.advance(100 * 24 * 3600_000)
    while ((await wallet.openPayments.sweep()) > 0);
    const { payment: later } = await incomingPayment(wallet)
    world.connections.length = 0
    expect(await receivers.find(later.id)).toMatchObject({ ok: true })
    expect(lines(world)).toEqual([
      expect.stringMatching(/^signed POST https:\/\/auth\.wallet\.example\/token\//),
      `signed POST ${AUTH}/`,
      `signed GET ${later.id}`,
    ])
  })
})

describe('the key of this server', () => {
  const keyOf = async (world: Internet, all: readonly string[]): Promise<unknown> => {
    const { wallet, world: here, receivers } = await scene({}, { secrets: all })
    const { payment } = await incomingPayment(wallet)
    expect(await receivers.find(payment.id)).toMatchObject({ ok: true })
    world.connections.push(...here.connections)
    const [, grant] = here.connections
    return grant && Reflect.get(Object(jsonOf(grant)), 'client')
  }

  it('TOK-10 is the same in all processes, and another one for another secret', async () => {
    const { world } = await scene()
    const [old, young] = [...OUR_SECRETS, 'the newer secret of the server that reads']
    const first = await keyOf(world, [old ?? ''])
    expect(await keyOf(world, [old ?? ''])).toEqual(first)
    const next = await keyOf(world, [young ?? '', old ?? ''])
    expect(next).not.toEqual(first)
    expect(await keyOf(world, [young ?? ''])).toEqual(next)
    const { jwk } = await derivedServerKeys(secrets, cryptography).current()
    expect(first).toEqual({ jwk })
    expect(JSON.stringify(jwk)).not.toContain('"d"')
  })

  it('is another client than that of a server with other secrets', async () => {
    const { wallet, world, receivers } = await scene()
    const { payment } = await incomingPayment(wallet)
    await receivers.find(payment.id)
    await readerOn(world, wallet.clock, { secrets: ['another secret, of at least 32 characters'] }).find(payment.id)
    const [first, second] = world.connections.filter(({ method }) => method === 'POST').map(jsonOf)
    expect(first).not.toEqual(second)
  })
})
