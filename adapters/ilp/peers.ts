import type { Asset, Cryptography } from '../../src/index.ts'
import { isSameAsset } from '../../src/protocol/amount.ts'
import { isEqualBytes, toUtf8 } from '../../src/protocol/bytes.ts'
import { accountOf, type IlpPeerSettings, type IlpSettings } from './options.ts'

/** A peer and the name of the account with it. */
export interface Peer extends IlpPeerSettings {
  readonly account: string
}

/** Looks up the peers of a server. */
export interface Peers {
  /**
   * The peer through which an ILP address is reached, for a payer with an account in `from` and a receiver in `to`;
   * `undefined` if there is none, or the address is this server's own.
   */
  peerFor(destination: string, from: Asset, to: Asset): Peer | undefined
  /**
   * Whether an ILP address is this server's own, so that packets for it would only come back: it begins with this
   * server's, and with no peer's prefix that is as long or longer. A payment within the wallet would evade its price that
   * way, and the ledger's checks of its payee.
   * @spec T-47
   */
  isOwn(destination: string): boolean
  peerByAccount(account: string): Peer | undefined
  /** The peer whose incoming token this is. The time it takes does not depend on the token. */
  peerByToken(token: string, cryptography: Cryptography): Promise<Peer | undefined>
  /** The accounts with the server at an ILP address: all of them, or the one in an asset. */
  peersAt(address: string, asset?: Asset): readonly Peer[]
}

/** Looks peers up. */
export function createPeers({ address, peers: settings }: Pick<IlpSettings, 'address' | 'peers'>): Peers {
  const peers: readonly Peer[] = settings.map((peer) => ({ ...peer, account: accountOf(peer) }))
  const lengthsTo = (destination: string): readonly number[] => peers.map((peer) => matchLength(peer, destination))
  const isOwn = (destination: string): boolean =>
    matchLength({ prefixes: [address], isDefault: false }, destination) > Math.max(...lengthsTo(destination))
  return {
    isOwn,
    peerFor(destination, from, to) {
      if (isOwn(destination)) return undefined
      const lengths = lengthsTo(destination)
      const longest = Math.max(...lengths)
      const candidates = peers.filter((_, index) => longest >= 0 && lengths[index] === longest)
      const withAsset = (asset: Asset): Peer | undefined => candidates.find((peer) => isSameAsset(peer.asset, asset))
      return withAsset(from) ?? withAsset(to) ?? candidates[0]
    },
    peerByAccount: (account) => peers.find((peer) => peer.account === account),
    async peerByToken(token, cryptography) {
      const digest = async (text: string): Promise<Uint8Array> => cryptography.sha256(toUtf8(text))
      const shown = await digest(token)
      let found: Peer | undefined
      for (const peer of peers) {
        for (const known of peer.incomingTokens) if (isEqualBytes(await digest(known), shown)) found = peer
      }
      return found
    },
    peersAt: (address, asset) =>
      peers.filter((peer) => peer.address === address && (asset === undefined || isSameAsset(peer.asset, asset))),
  }
}

/** How much of an address a peer's longest prefix covers, in characters; -1 if none does. */
function matchLength({ prefixes, isDefault }: Pick<Peer, 'prefixes' | 'isDefault'>, destination: string): number {
  const matching = prefixes.filter((prefix) => destination === prefix || destination.startsWith(`${prefix}.`))
  return Math.max(isDefault ? 0 : -1, ...matching.map(({ length }) => length))
}
