import { describe, expect, it } from 'vitest'
import { DEFAULT_ACCOUNTS, defaultRates, readConfiguration } from '../../examples/sandbox/configuration.ts'

const ACCOUNT = { path: '/dora', assetCode: 'USD', assetScale: 2, balance: '100' }
const PEER = {
  address: 'test.other',
  url: 'http://localhost:4001/ilp',
  outgoingToken: 'shown-to-the-other',
  incomingTokens: ['shown-by-the-other'],
  asset: { assetCode: 'USD', assetScale: 2 },
}
const KEY = { kid: 'k', kty: 'OKP', crv: 'Ed25519', x: '11qYAYKxCrfVS_7TyWQHOg7hcvPapiMlrwIaaPcHURo' }
const read = (configuration: unknown) => readConfiguration(JSON.stringify(configuration))

describe('a configuration', () => {
  it('may be empty, since every key is optional', () => {
    expect(read({})).toEqual({ ok: true, configuration: {} })
  })

  it('may use every key', () => {
    const configuration = {
      accounts: [
        {
          ...ACCOUNT,
          name: 'Dora',
          jwks: {
            keys: [
              { ...KEY, alg: 'EdDSA', use: 'sig' },
              { ...KEY, alg: 'Ed25519' },
            ],
          },
        },
      ],
      lifetimes: {
        accessTokenSeconds: 1,
        interactionSeconds: 6,
        quoteSeconds: 3,
        incomingPaymentSeconds: 4,
        continuationWaitSeconds: 5,
      },
      rates: [{ from: 'USD', to: 'EUR', rate: '0.92' }],
      fee: { basisPoints: 25, fixed: '30' },
      loopbackKeys: false,
    }
    expect(read(configuration)).toEqual({ ok: true, configuration })
  })

  it('may name peers, whose amounts it reads', () => {
    const more = { prefixes: ['test.other', 'test.third'], isDefault: true, isIdempotent: true }
    const limits = { sending: '9223372036854775807', receiving: '0' }
    const peers = [{ ...PEER, ...more, maxPacketAmount: '1000', limits }]
    expect(read({ ilpAddress: 'test.mine', peers })).toEqual({
      ok: true,
      configuration: {
        ilpAddress: 'test.mine',
        peers: [
          { ...PEER, ...more, maxPacketAmount: 1000n, limits: { sending: 9_223_372_036_854_775_807n, receiving: 0n } },
        ],
      },
    })
  })

  it.each([
    [{ colour: 'red' }, 'colour'],
    [{ accounts: [{ ...ACCOUNT, colour: 'red' }] }, 'accounts.0.colour'],
    [{ accounts: [{ ...ACCOUNT, jwks: { keys: [], colour: 'red' } }] }, 'accounts.0.jwks.colour'],
    [{ lifetimes: { tokenSeconds: 1 } }, 'lifetimes.tokenSeconds'],
    [{ rates: [{ from: 'USD', to: 'EUR', rate: '1', via: 'GBP' }] }, 'rates.0.via'],
    [{ fee: { percent: 1 } }, 'fee.percent'],
    [{ ilpAddress: 'test.mine', peers: [{ ...PEER, token: 'x' }] }, 'peers.0.token'],
    [{ ilpAddress: 'test.mine', peers: [{ ...PEER, limits: { owing: '1' } }] }, 'peers.0.limits.owing'],
  ])('%j is refused by the name of the unknown key', (configuration, name) => {
    expect(read(configuration)).toEqual({ ok: false, message: `there is no key ${name}` })
  })

  it.each([
    [{ accounts: [{ ...ACCOUNT, path: 'dora' }] }, 'accounts.0.path'],
    [{ accounts: [{ ...ACCOUNT, path: '/' }] }, 'accounts.0.path'],
    [{ accounts: [{ ...ACCOUNT, path: '/client' }] }, 'accounts.0.path'],
    [{ accounts: [{ ...ACCOUNT, path: '/x/quotes' }] }, 'accounts.0.path'],
    [{ accounts: [ACCOUNT, ACCOUNT] }, 'accounts'],
    [{ accounts: [{ ...ACCOUNT, balance: 100 }] }, 'accounts.0.balance'],
    [{ accounts: [{ ...ACCOUNT, balance: '-1' }] }, 'accounts.0.balance'],
    [{ accounts: [{ ...ACCOUNT, assetScale: 256 }] }, 'accounts.0.assetScale'],
    [{ accounts: [{ ...ACCOUNT, assetCode: '' }] }, 'accounts.0.assetCode'],
    [{ accounts: [{ ...ACCOUNT, jwks: { keys: [{ ...KEY, d: 'secret' }] } }] }, 'accounts.0.jwks.keys.0.d'],
    [{ lifetimes: { quoteSeconds: 0 } }, 'lifetimes.quoteSeconds'],
    [{ lifetimes: { quoteSeconds: 1.5 } }, 'lifetimes.quoteSeconds'],
    [{ rates: [{ from: 'USD', to: 'EUR', rate: 0.92 }] }, 'rates.0.rate'],
    [{ rates: [{ from: 'USD', to: 'EUR', rate: '0.00' }] }, 'rates.0.rate'],
    [{ rates: [{ from: 'USD', to: 'EUR', rate: '9e1' }] }, 'rates.0.rate'],
    [{ fee: { basisPoints: 10_000 } }, 'fee.basisPoints'],
    [{ fee: { fixed: 1 } }, 'fee.fixed'],
    [{ loopbackKeys: 'no' }, 'loopbackKeys'],
    [{ accounts: [{ ...ACCOUNT, path: '/ilp' }] }, 'accounts.0.path'],
    [{ peers: [PEER] }, 'peers'],
    [{ ilpAddress: 7, peers: [PEER] }, 'ilpAddress'],
    [{ ilpAddress: 'test.mine', peers: PEER }, 'peers'],
    [{ ilpAddress: 'test.mine', peers: [{ ...PEER, url: undefined }] }, 'peers.0.url'],
    [{ ilpAddress: 'test.mine', peers: [{ ...PEER, incomingTokens: 'one' }] }, 'peers.0.incomingTokens'],
    [{ ilpAddress: 'test.mine', peers: [{ ...PEER, asset: { assetCode: 'USD' } }] }, 'peers.0.asset.assetScale'],
    [{ ilpAddress: 'test.mine', peers: [{ ...PEER, maxPacketAmount: 1000 }] }, 'peers.0.maxPacketAmount'],
    [{ ilpAddress: 'test.mine', peers: [{ ...PEER, limits: { sending: '-1' } }] }, 'peers.0.limits.sending'],
  ])('%j is refused by the name of the key', (configuration, name) => {
    expect(read(configuration)).toMatchObject({ ok: false, message: expect.stringMatching(new RegExp(`^${name}: `)) })
  })

  it.each([
    [{ ilpAddress: 7 }, 'ilpAddress: must be a string'],
    [{ accounts: [{ ...ACCOUNT, path: undefined }] }, 'accounts.0.path: is missing'],
    [{ accounts: [7] }, 'accounts.0: Invalid type: Expected Object but received 7'],
    [{ ilpAddress: 'test.mine', peers: [{ ...PEER, url: 1 }] }, 'peers.0.url: must be a string'],
    [
      { ilpAddress: 'test.mine', peers: [{ ...PEER, maxPacketAmount: 1000 }] },
      'peers.0.maxPacketAmount: must be a whole number of the smallest unit, as a string',
    ],
  ])('%j is refused with what it must be', (configuration, message) => {
    expect(read(configuration)).toEqual({ ok: false, message })
  })

  it.each(['', '{', '[1', '"accounts"', 'null', '[]'])('%j is no configuration', (text) => {
    expect(readConfiguration(text).ok).toBe(false)
  })

  it('never repeats a private key', () => {
    expect(
      JSON.stringify(read({ accounts: [{ ...ACCOUNT, jwks: { keys: [{ ...KEY, d: 'secret' }] } }] })),
    ).not.toContain('secret')
  })
})

describe('the defaults', () => {
  it('are accounts that a configuration could name, in two assets and two scales at least', () => {
    expect(read({ accounts: DEFAULT_ACCOUNTS })).toEqual({ ok: true, configuration: { accounts: DEFAULT_ACCOUNTS } })
    expect(new Set(DEFAULT_ACCOUNTS.map(({ assetCode }) => assetCode)).size).toBeGreaterThan(1)
    expect(new Set(DEFAULT_ACCOUNTS.map(({ assetScale }) => assetScale)).size).toBeGreaterThan(1)
    expect(DEFAULT_ACCOUNTS.every(({ balance }) => BigInt(balance) > 0n)).toBe(true)
  })

  it.each([[['USD', 'EUR', 'KWD']], [['USD', 'XAU', 'USD']]])('have a rate for every ordered pair of %j', (codes) => {
    const pairs = defaultRates(codes).map(({ from, to }) => `${from}/${to}`)
    for (const from of codes) for (const to of codes) expect(pairs.includes(`${from}/${to}`)).toBe(from !== to)
    expect(new Set(pairs).size).toBe(pairs.length)
  })

  it('lose a little with every exchange, never gain', () => {
    for (const { from, to, rate } of defaultRates(['USD', 'EUR', 'KWD'])) {
      const back = defaultRates([to, from]).find((other) => other.from === to)
      expect(Number(rate) * Number(back?.rate)).toBeLessThan(1)
    }
  })
})
