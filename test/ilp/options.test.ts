import { isConfigurationError } from 'open-payments-server'
import { ilp } from 'open-payments-server/ilp'
import { describe, expect, it, vi } from 'vitest'
import { resolveIlpOptions } from '../../adapters/ilp/options.ts'
import { EUR, PEER, receiverWorld, USD } from './receiver-world.ts'

const OPTIONS = { address: 'test.wallet', peers: [PEER] }

/** What is wrong with options, as plain JavaScript may give them. */
function mistakeIn(options: unknown): string {
  try {
    Reflect.apply(ilp, undefined, [options])
  } catch (error) {
    if (isConfigurationError(error)) return error.message
    throw error
  }
  return ''
}

/** Another peer, in the same asset. */
const OTHER = { ...PEER, address: 'test.other', incomingTokens: ['a-token-of-its-own'] }

const withPeer = (members: object) => ({ ...OPTIONS, peers: [{ ...PEER, ...members }] })

describe('the options of the rail', () => {
  it('have defaults', () => {
    expect(resolveIlpOptions(OPTIONS)).toEqual({
      address: 'test.wallet',
      path: '/ilp',
      slippageBasisPoints: 100,
      peers: [{ ...PEER, prefixes: ['test.peer'], isDefault: false, limits: {}, isIdempotent: false }],
    })
  })

  it('take the asset of a peer from getters, too, as classes of configuration have them', () => {
    class Dollars {
      get assetCode() {
        return 'USD'
      }
      get assetScale() {
        return 2
      }
    }
    const { peers } = resolveIlpOptions({ ...OPTIONS, peers: [{ ...PEER, asset: new Dollars() }] })
    expect(peers[0]?.asset).toEqual({ assetCode: 'USD', assetScale: 2 })
  })

  it('are what they were, whatever becomes of what was given', () => {
    const given = { ...PEER, incomingTokens: ['a-token-that-stays-'], prefixes: ['test'], limits: { sending: 1n } }
    const { peers } = resolveIlpOptions({ ...OPTIONS, peers: [given] })
    given.incomingTokens.push('')
    given.prefixes.pop()
    given.limits.sending = 2n
    expect(peers).toMatchObject([
      { incomingTokens: ['a-token-that-stays-'], prefixes: ['test.peer', 'test'], limits: { sending: 1n } },
    ])
  })

  it('may have an asset of a class of the host, whose members are not its own', () => {
    const asset: typeof PEER.asset = Object.create(PEER.asset)
    expect(resolveIlpOptions(withPeer({ asset })).peers).toMatchObject([{ asset: PEER.asset }])
  })

  it.each<[string, unknown]>([
    ['the options of ilp() must be an object', undefined],
    ['the options of ilp() must be an object', [OPTIONS]],
    ['ilp.peer is not an option', { ...OPTIONS, peer: PEER }],
    ['address must be an ILP address', { ...OPTIONS, address: undefined }],
    ['address must be an ILP address', { ...OPTIONS, address: 'wallet.example' }],
    ['address must be an ILP address', { ...OPTIONS, address: 'test' }],
    ['address must not begin with `peer.`', { ...OPTIONS, address: 'peer.wallet' }],
    ['address must be an ILP address of at most 960', { ...OPTIONS, address: `test.${'a'.repeat(956)}` }],
    ['path must be a path', { ...OPTIONS, path: 'ilp' }],
    ['path must be a path', { ...OPTIONS, path: '/ilp/' }],
    ['path must be a path', { ...OPTIONS, path: '/' }],
    ['path must be a path', { ...OPTIONS, path: '/a/../ilp' }],
    ['path must be a path', { ...OPTIONS, path: '/ilp?a=b' }],
    ['path must be a path', { ...OPTIONS, path: '/:ilp' }],
    ['path must be a path', { ...OPTIONS, path: 1 }],
    ['slippageBasisPoints must be an integer from 0 to 9999', { ...OPTIONS, slippageBasisPoints: 10_000 }],
    ['slippageBasisPoints must be an integer from 0 to 9999', { ...OPTIONS, slippageBasisPoints: -1 }],
    ['slippageBasisPoints must be an integer from 0 to 9999', { ...OPTIONS, slippageBasisPoints: '1' }],
    ['slippageBasisPoints must be an integer from 0 to 9999', { ...OPTIONS, slippageBasisPoints: 0.5 }],
    ['send must be a function', { ...OPTIONS, send: 'fetch' }],
    ['peers must be a list of at least one peer', { ...OPTIONS, peers: undefined }],
    ['peers must be a list of at least one peer', { ...OPTIONS, peers: [] }],
    ['peers must be a list of at least one peer', { ...OPTIONS, peers: PEER }],
    ['peers[1] must be an object', { ...OPTIONS, peers: [PEER, null] }],
    ['peers[0].token is not an option', withPeer({ token: 'a' })],
    ['peers[0].address must be an ILP address', withPeer({ address: 'peer' })],
    ['peers[0].url must be an https URL', withPeer({ url: '/ilp' })],
    ['peers[0].url must be an https URL', withPeer({ url: 'ftp://peer.example' })],
    ['peers[0].url must be an https URL', withPeer({ url: 'https://a:b@peer.example' })],
    ['peers[0].url must be an https URL', withPeer({ url: 'https://peer.example#a' })],
    ['peers[0].url must be an https URL', withPeer({ url: 'http://peer.example/ilp' })],
    ['http is only for localhost, 127.0.0.1 and [::1]', withPeer({ url: 'http://10.0.0.1/ilp' })],
    ['http is only for localhost, 127.0.0.1 and [::1]', withPeer({ url: 'http://localhost.peer.example' })],
    ['http is only for localhost, 127.0.0.1 and [::1]', withPeer({ url: 'http://127.0.0.1@peer.example' })],
    ['peers[0].outgoingToken must be visible ASCII', withPeer({ outgoingToken: '' })],
    ['peers[0].outgoingToken must be visible ASCII', withPeer({ outgoingToken: 'a b' })],
    ['peers[0].outgoingToken must be visible ASCII', withPeer({ outgoingToken: 'a\r\nb: c' })],
    ['peers[0].incomingTokens must list tokens', withPeer({ incomingTokens: [] })],
    ['peers[0].incomingTokens must list tokens', withPeer({ incomingTokens: 'sixteen-characters' })],
    ['peers[0].incomingTokens must list tokens of at least 16', withPeer({ incomingTokens: ['fifteen-letters'] })],
    ['peers[0].asset must be an object', withPeer({ asset: 'USD' })],
    ['peers[0].asset.code is not an option', withPeer({ asset: { code: 'USD', scale: 2 } })],
    ['peers[0].asset.assetCode must be a string of', withPeer({ asset: { ...USD, assetCode: '' } })],
    ['peers[0].asset.assetCode must be a string of', withPeer({ asset: { ...USD, assetCode: 'US D' } })],
    ['peers[0].asset.assetScale must be an integer', withPeer({ asset: { ...USD, assetScale: 256 } })],
    ['peers[0].asset.assetScale must be an integer', withPeer({ asset: { ...USD, assetScale: '2' } })],
    ['peers[0].maxPacketAmount must be a bigint', withPeer({ maxPacketAmount: 100 })],
    ['peers[0].maxPacketAmount must be a bigint', withPeer({ maxPacketAmount: 0n })],
    ['peers[0].maxPacketAmount must be a bigint', withPeer({ maxPacketAmount: 2n ** 64n })],
    ['peers[0].prefixes must list ILP address prefixes', withPeer({ prefixes: 'test' })],
    ['peers[0].prefixes must list ILP address prefixes', withPeer({ prefixes: ['test.'] })],
    ['peers[0].prefixes must list ILP address prefixes', withPeer({ prefixes: [''] })],
    ['peers[0].isDefault must be true or false', withPeer({ isDefault: 'yes' })],
    ['peers[0].limits must be an object', withPeer({ limits: 5n })],
    ['peers[0].limits.both is not an option', withPeer({ limits: { both: 5n } })],
    ['peers[0].limits.sending must be a bigint', withPeer({ limits: { sending: -1n } })],
    ['peers[0].limits.receiving must be a bigint', withPeer({ limits: { receiving: 5 } })],
    ['peers[0].settled must be a function', withPeer({ settled: 5n })],
    ['peers[0].isIdempotent must be true or false', withPeer({ isIdempotent: 1 })],
    [
      'peers[0] and peers[1] are both the account test.peer/USD/2',
      { ...OPTIONS, peers: [PEER, { ...PEER, incomingTokens: ['a-token-of-its-own'] }] },
    ],
    [
      'peers[1].incomingTokens[0] is in peers[0].incomingTokens too: the token alone says which entry, and asset,',
      { ...OPTIONS, peers: [PEER, { ...PEER, asset: EUR }] },
    ],
    [
      'peers[0].incomingTokens[1] is in peers[0].incomingTokens too',
      withPeer({ incomingTokens: [...PEER.incomingTokens, ...PEER.incomingTokens] }),
    ],
    [
      'peers[0].outgoingToken is in peers[0].incomingTokens too',
      withPeer({ incomingTokens: ['a-token-of-its-own', 'shown-and-expected'], outgoingToken: 'shown-and-expected' }),
    ],
    [
      'peers[1].outgoingToken is in peers[0].incomingTokens too: the peer it is shown to could send packets as peers[0]',
      { ...OPTIONS, peers: [PEER, { ...OTHER, outgoingToken: PEER.incomingTokens[0] }] },
    ],
    [
      "peers[1].address is this server's own address",
      { ...OPTIONS, peers: [PEER, { ...OTHER, address: 'test.wallet' }] },
    ],
    ["peers[0].prefixes has this server's own address", withPeer({ prefixes: ['test.a', 'test.wallet'] })],
    [
      'peers[1].isDefault: peers[0] is the default in this asset already',
      {
        ...OPTIONS,
        peers: [
          { ...PEER, isDefault: true },
          { ...OTHER, isDefault: true },
        ],
      },
    ],
  ])('are refused where %s', (mistake, options) => {
    expect(mistakeIn(options)).toContain(mistake)
  })

  it('say what an ILP address is', () => {
    expect(mistakeIn({ ...OPTIONS, address: 'wallet.example' })).toBe(
      'address must be an ILP address of at most 960 characters: `g.` or `test.` and a name, in letters, digits, `_`, `~`, `-` and dots',
    )
  })

  it('may have a peer above this server or below it, and one default in each asset', () => {
    const peers = [
      { ...PEER, isDefault: true },
      { ...OTHER, asset: EUR, isDefault: true },
    ]
    expect(mistakeIn({ address: 'test.peer.wallet', peers })).toBe('')
    expect(mistakeIn({ ...OPTIONS, peers: [{ ...OTHER, address: 'test.wallet.child', prefixes: ['test'] }] })).toBe('')
  })

  it.each([
    'https://10.0.0.1/ilp',
    'https://peer.example',
    'http://localhost:3000/ilp',
    'http://127.0.0.1/',
    'http://[::1]:80/',
  ])('may name a peer at %s', (url) => {
    expect(mistakeIn(withPeer({ url }))).toBe('')
  })

  it('may name one peer in two assets, and bounds up to the greatest', () => {
    const other = { ...PEER, asset: EUR, incomingTokens: ['a-token-of-its-own'] }
    const most = { maxPacketAmount: 2n ** 64n - 1n, limits: { sending: 0n, receiving: 2n ** 64n - 1n } }
    const rest = { isDefault: true, isIdempotent: true, prefixes: ['g', 'test.a'], settled: () => 0n }
    const url = 'http://127.0.0.1:3000/ilp?a=b'
    expect(mistakeIn({ ...OPTIONS, peers: [PEER, { ...other, ...most, ...rest, url }] })).toBe('')
    const long = { address: `test.${'a'.repeat(955)}`, path: '/a/b.c', slippageBasisPoints: 0 }
    expect(mistakeIn({ ...OPTIONS, ...long, send: async () => ({ status: 200, bytes: new Uint8Array() }) })).toBe('')
  })
})

describe('the rail', () => {
  const payment = {
    id: '0'.repeat(32),
    address: 'sealed',
    walletAddress: 'https://wallet.example/bob',
    sharedSecret: 'secret',
  }

  it('gives every incoming payment an address of its own, and its secret', async () => {
    const details = { type: 'ilp', ilpAddress: 'test.wallet.sealed', sharedSecret: 'secret' }
    expect(await ilp(OPTIONS).createDetails(payment)).toEqual(details)
  })

  it('is of one server', async () => {
    const { rail } = receiverWorld()
    const connect = () => Reflect.apply(rail.connect ?? (() => undefined), rail, [{}])
    expect(connect).toThrow('ilp(...) serves one server')
    await expect(ilp(OPTIONS).balance('test.peer')).rejects.toThrow('must be in the paymentMethods of a server')
  })

  it('tells where the wallet stands with a peer', async () => {
    const { rail } = receiverWorld({}, { settled: async () => 4n })
    const moved = { sent: 3n, received: 10n }
    expect(await rail.balance('test.peer', USD)).toEqual({ asset: USD, ...moved, settled: 4n, owed: 3n })
    expect(await rail.balance('test.peer', EUR)).toEqual({ asset: EUR, ...moved, settled: 0n, owed: 7n })
    await expect(rail.balance('test.peer')).rejects.toThrow(RangeError)
    await expect(rail.balance('test.other')).rejects.toThrow(RangeError)
    const single = receiverWorld({ peers: [PEER] }).rail
    expect(await single.balance('test.peer')).toMatchObject({ asset: USD, owed: 7n })
  })

  it('asks the books for a bigint, and starts no timer where they answer from memory', async () => {
    const settled = vi.fn<() => bigint | Promise<bigint>>(async () => 4n)
    const { rail, clock } = receiverWorld({}, { settled })
    const sleep = vi.spyOn(clock, 'sleep')
    expect(await rail.balance('test.peer', USD)).toMatchObject({ settled: 4n })
    settled.mockImplementation(() => -4n)
    expect(await rail.balance('test.peer', USD)).toMatchObject({ settled: -4n })
    expect(sleep).not.toHaveBeenCalled()
    settled.mockImplementation(() => new Promise((resolve) => setImmediate(() => resolve(5n))))
    expect(await rail.balance('test.peer', USD)).toMatchObject({ settled: 5n })
    expect(sleep.mock.calls.map(([, signal]) => signal?.aborted)).toEqual([true])
    // As plain JavaScript may answer.
    Reflect.apply(settled.mockResolvedValue, settled, [undefined])
    await expect(rail.balance('test.peer', USD)).rejects.toThrow('`settled` of a peer did not answer with a bigint')
  })
})
