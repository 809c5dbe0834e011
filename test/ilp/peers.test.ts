import { webCryptography } from 'open-payments-server'
import { describe, expect, it } from 'vitest'
import { type IlpPeer, resolveIlpOptions } from '../../adapters/ilp/options.ts'
import { createPeers, type Peers } from '../../adapters/ilp/peers.ts'
import { EUR, PEER, USD } from './receiver-world.ts'

const GBP = { assetCode: 'GBP', assetScale: 2 }

/** Peers with tokens of their own. */
function peersOf(...peers: readonly Partial<IlpPeer>[]): Peers {
  const whole = peers.map((peer, index) => ({ ...PEER, incomingTokens: [`token-number-${index}-of-this`], ...peer }))
  return createPeers(resolveIlpOptions({ address: 'test.wallet', peers: whole }))
}

describe('the way to an address', () => {
  const accountTo = (peers: Peers, destination: string, from = USD, to = USD) =>
    peers.peerFor(destination, from, to)?.account

  it('is a peer whose prefix it begins with, segment by segment', () => {
    const peers = peersOf({ prefixes: ['test.a', 'example'] })
    for (const address of ['test.a', 'test.a.b', 'test.a.b.c', 'example.x'])
      expect(accountTo(peers, address)).toBe('test.peer/USD/2')
    for (const address of ['test.ab', 'test.b.a', 'test', 'g.test.a', 'examples.x'])
      expect(accountTo(peers, address)).toBeUndefined()
    expect(accountTo(peersOf({}), 'test.peer.alice')).toBe('test.peer/USD/2')
    expect(accountTo(peers, 'test.peer.alice')).toBe('test.peer/USD/2')
  })

  it('is the peer with the longest one, wherever it stands', () => {
    const wide = { address: 'test.wide', prefixes: ['test', 'test.a.b.c'] }
    const near = { address: 'test.near', prefixes: ['test.a'] }
    for (const peers of [peersOf(wide, near), peersOf(near, wide)]) {
      expect(accountTo(peers, 'test.x')).toBe('test.wide/USD/2')
      expect(accountTo(peers, 'test.a.x')).toBe('test.near/USD/2')
      expect(accountTo(peers, 'test.a.b.c.x')).toBe('test.wide/USD/2')
    }
  })

  it('is the default where no prefix fits, and only there', () => {
    const peers = peersOf({ address: 'test.default', isDefault: true }, { address: 'test.near', prefixes: ['g'] })
    expect(accountTo(peers, 'test.x')).toBe('test.default/USD/2')
    expect(accountTo(peers, 'g.x')).toBe('test.near/USD/2')
    expect(accountTo(peers, 'test.default.x')).toBe('test.default/USD/2')
  })

  it('is none to this server itself, but to a peer below it', () => {
    const child = { address: 'test.wallet.child', isDefault: true, prefixes: ['test'] }
    const peers = peersOf(child)
    for (const address of ['test.wallet', 'test.wallet.x', 'test.wallet.childish'])
      expect([accountTo(peers, address), peers.isOwn(address)]).toEqual([undefined, true])
    for (const address of ['test.wallet.child.x', 'test.wallets', 'test', 'g.test.wallet.x'])
      expect([accountTo(peers, address), peers.isOwn(address)]).toEqual(['test.wallet.child/USD/2', false])
    expect(peersOf({}).isOwn('test.other')).toBe(false)
  })

  it('is, of several as near, the account in the asset of the payer, else of the receiver, else the first', () => {
    const peers = peersOf({ asset: GBP }, { asset: EUR }, { asset: USD })
    expect(accountTo(peers, 'test.peer.x', USD, EUR)).toBe('test.peer/USD/2')
    expect(accountTo(peers, 'test.peer.x', { ...USD, assetScale: 3 }, EUR)).toBe('test.peer/EUR/2')
    expect(accountTo(peers, 'test.peer.x', { ...USD, assetScale: 3 }, { ...EUR, assetScale: 3 })).toBe(
      'test.peer/GBP/2',
    )
    const defaults = peersOf({ asset: GBP, isDefault: true }, { asset: USD, isDefault: true })
    expect(accountTo(defaults, 'g.x', USD, EUR)).toBe('test.peer/USD/2')
  })

  it('is not one in the right asset where another is nearer', () => {
    const peers = peersOf({ asset: EUR, prefixes: ['test.a'] }, { asset: USD, prefixes: ['test'] })
    expect(accountTo(peers, 'test.a.x', USD, USD)).toBe('test.peer/EUR/2')
  })
})

describe('a peer', () => {
  const peers = peersOf({}, { asset: EUR, incomingTokens: ['first-of-two-tokens', 'second-of-two-tokens'] })

  it('is found by its account', () => {
    expect(peers.peerByAccount('test.peer/EUR/2')?.asset).toEqual(EUR)
    expect(peers.peerByAccount('test.peer/EUR/3')).toBeUndefined()
    expect(peers.peersAt('test.peer').map(({ account }) => account)).toEqual(['test.peer/USD/2', 'test.peer/EUR/2'])
    expect(peers.peersAt('test.peer', EUR).map(({ account }) => account)).toEqual(['test.peer/EUR/2'])
    expect(peers.peersAt('test.other')).toEqual([])
  })

  it('T-15 is found by each of its tokens, and by nothing else', async () => {
    const accountBy = async (token: string) => (await peers.peerByToken(token, webCryptography()))?.account
    expect(await accountBy('token-number-0-of-this')).toBe('test.peer/USD/2')
    expect(await accountBy('first-of-two-tokens')).toBe('test.peer/EUR/2')
    expect(await accountBy('second-of-two-tokens')).toBe('test.peer/EUR/2')
    for (const token of ['', 'first-of-two-token', 'first-of-two-tokens ', PEER.outgoingToken])
      expect(await accountBy(token)).toBeUndefined()
  })
})
