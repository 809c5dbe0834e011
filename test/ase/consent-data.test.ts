import type { ConsentData } from 'open-payments-server'
import { describe, expect, it } from 'vitest'
import { type AuthWallet, authWallet, CONSENT_REQUEST, INTERACT, OUTGOING } from '../auth-server/auth-wallet.ts'
import { keyRegistry, remoteClient, SHOP } from '../support/key-registry.ts'
import { ALICE, BASE, CAROL, CLIENT, FINISH, OWNER, referenceOf, usd } from '../support/test-wallet.ts'

async function shown(wallet: AuthWallet, request: unknown, as = wallet.client): Promise<ConsentData> {
  const pending = await wallet.ask(request, { as })
  expect(pending.status).toBe(200)
  const found = await wallet.openPayments.interactions.find(referenceOf(pending), OWNER)
  if (!found.ok) throw new Error(found.reason)
  return found.consent
}

const withLimits = (limits: unknown): unknown => ({
  ...CONSENT_REQUEST,
  access_token: { access: [{ ...OUTGOING, limits }] },
})

const DAY = 24 * 3600 * 1000

describe('what a resource owner is shown', () => {
  it('INT-11 is the client with its name and origin, the wallet address, the access and where the browser goes', async () => {
    const wallet = await authWallet()
    expect(await shown(wallet, CONSENT_REQUEST)).toEqual({
      client: { id: CLIENT, name: 'A Shop', origin: BASE, isLocal: true },
      walletAddress: ALICE,
      access: [{ access: OUTGOING }],
      subject: false,
      finishHost: 'shop.example',
      expiresAt: wallet.clock.now() + 600_000,
    })
  })

  it('INT-2 T-19 the name is the one that the document of the client gave when it asked', async () => {
    const keyResolver = keyRegistry()
    const wallet = await authWallet({ keyResolver })
    const client = await remoteClient(keyResolver)
    keyResolver.names.set(SHOP, 'Shop')
    const pending = await wallet.ask({ ...CONSENT_REQUEST, client: SHOP }, { as: client })
    keyResolver.names.set(SHOP, 'Your Bank')
    const found = await wallet.openPayments.interactions.find(referenceOf(pending), OWNER)
    expect(found).toMatchObject({
      ok: true,
      consent: { client: { id: SHOP, name: 'Shop', origin: 'https://shop.example', isLocal: false } },
    })
  })

  it.each([
    ['Wallet\u202Esupport\n', 'Wallet support'],
    ['x'.repeat(101), 'x'.repeat(100)],
    ['\u200B', undefined],
  ])('INT-11 T-19 the name %j that a resolver of the host gives is shown as %j', async (given, name) => {
    const keyResolver = keyRegistry()
    const wallet = await authWallet({ keyResolver })
    const client = await remoteClient(keyResolver)
    keyResolver.names.set(SHOP, given)
    const consent = await shown(wallet, { ...CONSENT_REQUEST, client: SHOP }, client)
    expect(consent.client.name).toBe(name)
  })

  it('INT-11 a client whose server has a name that begins like that of the wallet has no account here', async () => {
    const keyResolver = keyRegistry()
    const wallet = await authWallet({ keyResolver })
    const id = `${BASE}.evil.example/pay`
    const client = await remoteClient(keyResolver, id)
    const consent = await shown(wallet, { ...CONSENT_REQUEST, client: id }, client)
    expect(consent.client).toStrictEqual({ id, origin: `${BASE}.evil.example`, isLocal: false })
  })

  it('INT-11 a client without a name is shown by its wallet address alone', async () => {
    const keyResolver = keyRegistry()
    const wallet = await authWallet({ keyResolver })
    const client = await remoteClient(keyResolver)
    const consent = await shown(wallet, { ...CONSENT_REQUEST, client: SHOP }, client)
    expect(consent.client).toStrictEqual({ id: SHOP, origin: 'https://shop.example', isLocal: false })
  })

  it.each([
    [usd('1'), '0.01 USD'],
    [usd('123456'), '1234.56 USD'],
    [usd('18446744073709551615'), '184467440737095516.15 USD'],
    [usd('0'), '0.00 USD'],
  ])('INT-11 an amount is written for people: %o', async (debitAmount, text) => {
    const wallet = await authWallet()
    const consent = await shown(wallet, withLimits({ debitAmount }))
    expect(consent.access).toEqual([{ access: { ...OUTGOING, limits: { debitAmount } }, debitAmount: text }])
  })

  it('INT-11 a receive limit and a receiver are shown', async () => {
    const wallet = await authWallet()
    const receiver = `${BASE}/incoming-payments/1`
    const consent = await shown(
      wallet,
      withLimits({ receiver, receiveAmount: { value: '5', assetCode: 'JPY', assetScale: 0 } }),
    )
    expect(consent.access[0]).toMatchObject({ receiver, receiveAmount: '5 JPY' })
    expect(consent.access[0]?.debitAmount).toBeUndefined()
  })

  it.each([
    [
      'a slash that is none (U+2044)',
      'https://bank.com\u2044incoming-payments\u2044b8f1.evil.net/incoming-payments/1',
      'https://bank.xn--comincoming-paymentsb8f1-x79nra.evil.net/incoming-payments/1',
    ],
    [
      'a Cyrillic letter',
      'https://b\u0430nk.example/incoming-payments/1',
      'https://xn--bnk-6cd.example/incoming-payments/1',
    ],
    ['a soft hyphen', 'https://ev\u00adil.example/incoming-payments/1', 'https://evil.example/incoming-payments/1'],
    [
      'writing that turns around (U+202E)',
      'https://evil.example/\u202e1/elpmaxe.knab/incoming-payments/1',
      'https://evil.example/%E2%80%AE1/elpmaxe.knab/incoming-payments/1',
    ],
    ['NUL', 'https://evil.example/\0/incoming-payments/1', 'https://evil.example/%00/incoming-payments/1'],
    [
      'half a character',
      'https://evil.example/\ud800/incoming-payments/1',
      'https://evil.example/%EF%BF%BD/incoming-payments/1',
    ],
  ])('INT-11 LIM-5 a receiver is shown as it is compared, not as it was spelt: %s', async (_, spelt, receiver) => {
    const wallet = await authWallet()
    const consent = await shown(wallet, withLimits({ receiver: spelt }))
    expect(consent.access).toEqual([{ access: { ...OUTGOING, limits: { receiver } }, receiver }])
  })

  const start = Date.parse('2026-03-01T00:00:00Z')
  it.each([
    [
      'Rn, counted in addition',
      'R2/2026-03-01T00:00:00Z/P1D',
      'additional',
      { windows: 3, startsAt: start, endsAt: start + 3 * DAY },
    ],
    [
      'Rn, counted in total',
      'R2/2026-03-01T00:00:00Z/P1D',
      'total',
      { windows: 2, startsAt: start, endsAt: start + 2 * DAY },
    ],
    ['R0', 'R0/2026-03-01T00:00:00Z/P1D', 'additional', { windows: 1, startsAt: start, endsAt: start + DAY }],
    ['an end', 'R2/P1D/2026-03-04T00:00:00Z', 'additional', { windows: 3, startsAt: start, endsAt: start + 3 * DAY }],
    [
      'months',
      'R11/2026-03-01T00:00:00Z/P1M',
      'additional',
      { windows: 12, startsAt: start, endsAt: Date.parse('2027-03-01T00:00:00Z') },
    ],
    ['no end', 'R/2026-03-01T00:00:00Z/P1M', 'additional', { startsAt: start }],
    [
      'an end and endless windows before',
      'R/P1D/2026-03-04T00:00:00Z',
      'additional',
      { startsAt: start, endsAt: start + 3 * DAY },
    ],
  ] as const)(
    'INT-11 D4 of an interval the windows and the last end are shown: %s',
    async (_name, interval, intervalCounting, expected) => {
      const wallet = await authWallet({ settings: { policies: { intervalCounting } } })
      const consent = await shown(wallet, withLimits({ interval }))
      expect(consent.access[0]?.interval).toStrictEqual({ interval, phase: 'current', ...expected })
    },
  )

  it('T-20 a grant that polls says no finish host', async () => {
    const wallet = await authWallet()
    const consent = await shown(wallet, { ...CONSENT_REQUEST, interact: { start: ['redirect'] } })
    expect(consent).not.toHaveProperty('finishHost')
  })

  it.each([
    ['https://shop.example:8443/done', 'shop.example:8443'],
    ['https://SHOP.example/bank.example', 'shop.example'],
    ['https://xn--bnk-sla.example/', 'xn--bnk-sla.example'],
    ['http://localhost:3000/done', 'localhost:3000'],
    ['com.example.app:/done', 'com.example.app:'],
    ['com.example.app://bank.example/done', 'com.example.app:'],
  ])('INT-11 T-17 the finish host of %s is shown as %s', async (uri, finishHost) => {
    const wallet = await authWallet({
      settings: { policies: { finishSchemes: ['com.example.app'], loopbackHttp: true } },
    })
    const interact = { ...INTERACT, finish: { ...FINISH, uri } }
    expect(await shown(wallet, { ...CONSENT_REQUEST, interact })).toMatchObject({ finishHost })
  })

  it('GRT-12 a wish for the subject is shown', async () => {
    const wallet = await authWallet()
    const subject = { sub_ids: [{ id: CAROL, format: 'uri' }] }
    const consent = await shown(wallet, { client: CLIENT, interact: INTERACT, subject })
    expect(consent).toMatchObject({ walletAddress: CAROL, subject: true, access: [] })
  })

  it('INT-11 an interval without an end begins with the present window, one with an end with its first', async () => {
    const wallet = await authWallet()
    wallet.clock.advance(40 * DAY)
    const startOf = async (interval: string): Promise<number | undefined> =>
      (await shown(wallet, withLimits({ interval }))).access[0]?.interval?.startsAt
    expect(await startOf('R/2026-01-01T00:00:00Z/P1M')).toBe(Date.UTC(2026, 3, 1))
    expect(await startOf('R11/2026-01-01T00:00:00Z/P1M')).toBe(Date.UTC(2026, 0, 1))
  })

  it.each([
    ['R/2026-04-01T00:00:00Z/P1M', 'ahead', Date.UTC(2026, 3, 1)],
    ['R2/2026-04-01T00:00:00Z/P1M', 'ahead', Date.UTC(2026, 3, 1)],
    ['R0/2026-01-01T00:00:00Z/P1M', 'over', Date.UTC(2026, 0, 1)],
    ['R/P1M/2026-02-01T00:00:00Z', 'over', Date.UTC(2026, 0, 1)],
    ['R0/2026-02-01T12:00:00Z/P28D', 'over', Date.UTC(2026, 1, 1, 12)],
    ['R100000/P1Y/2027-01-31T00:00:00Z', 'current', Date.UTC(-97974, 0, 31)],
  ])('INT-11 an interval says whether it has begun, and whether it is over: %s', async (interval, phase, startsAt) => {
    const wallet = await authWallet()
    expect((await shown(wallet, withLimits({ interval }))).access[0]?.interval).toMatchObject({ phase, startsAt })
  })
})
