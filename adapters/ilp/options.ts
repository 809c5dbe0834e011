import { requireBoolean, requireFunction, requireOnly, requireOptionsOf } from '../../src/errors/check-option.ts'
import { type Asset, ConfigurationError } from '../../src/index.ts'
import { isSameAsset, MAX_AMOUNT_VALUE, mistakeInAsset } from '../../src/protocol/amount.ts'
import { isIlpAddress, isIlpPrefix } from '../../src/protocol/payment-method.ts'
import type { SendToPeer } from './send-packet.ts'

/** Another server with which this one exchanges packets, in one asset. Two assets need two entries. */
export interface IlpPeer {
  /** Its ILP address. */
  readonly address: string
  /**
   * Where it accepts packets: an absolute https URL; http only within one machine, at `localhost`, `127.0.0.1` or
   * `[::1]`.
   */
  readonly url: string
  /** The token that this server presents to the peer, as `Authorization: Bearer`; must differ from every incoming token. */
  readonly outgoingToken: string
  /**
   * The tokens that the peer may present to this server, each of at least 16 characters and in one entry only; several
   * while one replaces another.
   */
  readonly incomingTokens: readonly string[]
  /** The asset in which packets count their amounts, both ways. */
  readonly asset: Asset
  /** The largest packet that is accepted from it or sent to it. Default: no limit. */
  readonly maxPacketAmount?: bigint
  /** Prefixes of the addresses that are reached through it, besides its own address, which always is. Default: none. */
  readonly prefixes?: readonly string[]
  /** Whether it also reaches every address that no prefix covers; at most one peer in each asset. Default: no. */
  readonly isDefault?: boolean
  /**
   * In its asset: by how much what was sent to it may exceed what came from it (`sending`), and the other way round
   * (`receiving`), net of what was settled. Default: no limits.
   */
  readonly limits?: { readonly sending?: bigint; readonly receiving?: bigint }
  /**
   * From the wallet's books: what the peer has paid this wallet outside of Interledger less what this wallet has paid it,
   * since the beginning, in its asset. Asked wherever one of `limits` is checked: if it then rejects, does not answer with a
   * bigint, or does not answer within 3 seconds, nothing is sent (`sending`) or accepted (`receiving`). Default: zero.
   */
  readonly settled?: () => bigint | Promise<bigint>
  /**
   * Whether a packet sent to it twice has one effect, so that sending it again, even after its expiry, finds out what became
   * of it. This library behaves so; Interledger in general does not. Default: no.
   */
  readonly isIdempotent?: boolean
}

/** The wallet's place in the Interledger. */
export interface IlpOptions {
  /** The ILP address of this server, at most 960 characters. Payments are received at addresses below it. */
  readonly address: string
  /** Where peers reach this server, below the origin of `resourceServer`. Default `/ilp`. */
  readonly path?: string
  readonly peers: readonly IlpPeer[]
  /** How much worse than quoted the rate of a packet may be, in hundredths of a percent. Default 100. */
  readonly slippageBasisPoints?: number
  /** How a packet is sent to a peer. Default: with the host's `fetch`. */
  readonly send?: SendToPeer
}

/** The options, complete and checked, and no longer changeable by the caller. */
export interface IlpSettings extends IlpOptions {
  readonly path: string
  readonly peers: readonly IlpPeerSettings[]
  readonly slippageBasisPoints: number
}

/** A peer with its defaults, and its own address among the prefixes. */
export type IlpPeerSettings = IlpPeer & Required<Pick<IlpPeer, 'prefixes' | 'isDefault' | 'limits' | 'isIdempotent'>>

const OPTIONS: readonly string[] = ['address', 'path', 'peers', 'slippageBasisPoints', 'send']
const PEER_OPTIONS: readonly string[] = [
  'address',
  'url',
  'outgoingToken',
  'incomingTokens',
  'asset',
  'maxPacketAmount',
  'prefixes',
  'isDefault',
  'limits',
  'settled',
  'isIdempotent',
]

/** Checks every option and fills in the defaults; throws a `ConfigurationError` that names the option. */
export function resolveIlpOptions(options: IlpOptions): IlpSettings {
  requireOptionsOf('ilp', options, OPTIONS)
  const { address, path = '/ilp', peers, slippageBasisPoints = 100, send } = options
  requireAddress('address', address)
  // No server of this library sends there: by such addresses, peers configure each other.
  demand(!address.startsWith('peer.'), 'address must not begin with `peer.`')
  demand(isPath(path), 'path must be a path such as /ilp, without a slash at its end')
  demand(
    Number.isInteger(slippageBasisPoints) && slippageBasisPoints >= 0 && slippageBasisPoints < 10_000,
    'slippageBasisPoints must be an integer from 0 to 9999',
  )
  if (send !== undefined) requireFunction('send', send)
  demand(Array.isArray(peers) && peers.length > 0, 'peers must be a list of at least one peer')
  const resolved = peers.map((peer, index) => resolvePeer(`peers[${index}]`, peer))
  requireDistinct(resolved)
  requireWays(address, resolved)
  return Object.freeze({ address, path, peers: Object.freeze(resolved), slippageBasisPoints, ...(send && { send }) })
}

function resolvePeer(name: string, peer: IlpPeer): IlpPeerSettings {
  requireOnly(name, peer, PEER_OPTIONS)
  const { prefixes = [], isDefault = false, limits = {}, isIdempotent = false } = peer
  requireAddress(`${name}.address`, peer.address)
  demand(
    isPeerUrl(peer.url),
    `${name}.url must be an https URL without credentials or fragment; http is only for localhost, 127.0.0.1 and [::1]`,
  )
  demand(isToken(peer.outgoingToken, 1), `${name}.outgoingToken must be visible ASCII characters`)
  demand(
    isList(peer.incomingTokens, (token) => isToken(token, SHORTEST_TOKEN)) && peer.incomingTokens.length > 0,
    `${name}.incomingTokens must list tokens of at least ${SHORTEST_TOKEN} visible ASCII characters`,
  )
  requireOnly(`${name}.asset`, peer.asset, ['assetCode', 'assetScale'])
  const { assetCode, assetScale } = peer.asset
  const mistake = mistakeInAsset({ assetCode, assetScale })
  demand(mistake === undefined, `${name}.asset.${mistake}`)
  requireAmount(`${name}.maxPacketAmount`, peer.maxPacketAmount, 1n)
  demand(
    isList(prefixes, (prefix) => typeof prefix === 'string' && isIlpPrefix(prefix)),
    `${name}.prefixes must list ILP address prefixes`,
  )
  requireBoolean(`${name}.isDefault`, isDefault)
  requireOnly(`${name}.limits`, limits, ['sending', 'receiving'])
  requireAmount(`${name}.limits.sending`, limits.sending, 0n)
  requireAmount(`${name}.limits.receiving`, limits.receiving, 0n)
  if (peer.settled !== undefined) requireFunction(`${name}.settled`, peer.settled)
  requireBoolean(`${name}.isIdempotent`, isIdempotent)
  return Object.freeze({
    ...peer,
    incomingTokens: Object.freeze([...peer.incomingTokens]),
    asset: Object.freeze({ assetCode, assetScale }),
    prefixes: Object.freeze([...new Set([peer.address, ...prefixes])]),
    isDefault,
    limits: Object.freeze({ ...limits }),
    isIdempotent,
  })
}

/** Two entries for one account, or with one token, would be ambiguous. */
function requireDistinct(peers: readonly IlpPeerSettings[]): void {
  for (const [index, peer] of peers.entries()) {
    const name = `peers[${index}]`
    const twin = peers.findIndex((other) => accountOf(other) === accountOf(peer))
    demand(twin === index, `peers[${twin}] and ${name} are both the account ${accountOf(peer)}`)
    for (const [position, token] of peer.incomingTokens.entries()) {
      const owner = peers.findIndex(({ incomingTokens }) => incomingTokens.includes(token))
      demand(
        owner === index && peer.incomingTokens.indexOf(token) === position,
        `${name}.incomingTokens[${position}] is in peers[${owner}].incomingTokens too: the token alone says which entry, and asset, a packet is for`,
      )
    }
    const holder = peers.findIndex(({ incomingTokens }) => incomingTokens.includes(peer.outgoingToken))
    demand(
      holder === -1,
      `${name}.outgoingToken is in peers[${holder}].incomingTokens too: the peer it is shown to could send packets as peers[${holder}]`,
    )
  }
}

/** Refuses routes that send this server's own packets away, and a second default, which would never be used. */
function requireWays(address: string, peers: readonly IlpPeerSettings[]): void {
  for (const [index, peer] of peers.entries()) {
    const name = `peers[${index}]`
    demand(peer.address !== address, `${name}.address is this server's own address`)
    demand(!peer.prefixes.includes(address), `${name}.prefixes has this server's own address`)
    const first = peers.findIndex((other) => other.isDefault && isSameAsset(other.asset, peer.asset))
    demand(
      !peer.isDefault || first === index,
      `${name}.isDefault: peers[${first}] is the default in this asset already`,
    )
  }
}

/** The name of the account with a peer: it stays the same as long as the peer's address and asset do. */
export function accountOf({ address, asset }: Pick<IlpPeer, 'address' | 'asset'>): string {
  return `${address}/${asset.assetCode}/${asset.assetScale}`
}

const SHORTEST_TOKEN = 16

function demand(holds: boolean, message: string): asserts holds {
  if (!holds) throw new ConfigurationError(message)
}

function requireAddress(name: string, value: unknown): void {
  // A prefix is shorter than what a packet allows: payments and other hops append to it.
  demand(
    typeof value === 'string' && isIlpPrefix(value) && isIlpAddress(value),
    `${name} must be an ILP address of at most 960 characters: \`g.\` or \`test.\` and a name, in letters, digits, \`_\`, \`~\`, \`-\` and dots`,
  )
}

function requireAmount(name: string, value: unknown, least: bigint): void {
  const isAmount = typeof value === 'bigint' && value >= least && value <= MAX_AMOUNT_VALUE
  demand(value === undefined || isAmount, `${name} must be a bigint from ${least} to 2^64 - 1`)
}

function isPath(path: unknown): boolean {
  if (typeof path !== 'string' || !/^(?:\/[\w.~-]+)+$/.test(path)) return false
  // Unchanged by a URL parser: no `..`.
  return new URL(`http://host${path}`).pathname === path
}

const LOOPBACK: readonly string[] = ['localhost', '127.0.0.1', '[::1]']

/** Without TLS, tokens and amounts would travel in the open. */
function isPeerUrl(text: unknown): boolean {
  if (typeof text !== 'string' || !URL.canParse(text)) return false
  const { protocol, hostname, username, password } = new URL(text)
  const isPrivate = protocol === 'https:' || (protocol === 'http:' && LOOPBACK.includes(hostname))
  return isPrivate && username === '' && password === '' && !text.includes('#')
}

function isToken(token: unknown, shortest: number): boolean {
  return typeof token === 'string' && token.length >= shortest && /^[!-~]+$/.test(token)
}

function isList(list: unknown, isMember: (member: unknown) => boolean): boolean {
  return Array.isArray(list) && list.every(isMember)
}
