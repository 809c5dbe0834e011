import type { Asset, Cryptography } from '../../src/index.ts'
import { isSameAsset } from '../../src/protocol/amount.ts'
import { isEqualBytes, toUtf8 } from '../../src/protocol/identifiers.ts'
import { accountOf, type IlpPeerSettings } from './options.ts'

/** A peer and the name of the account with it. */
export interface Peer extends IlpPeerSettings {
  readonly account: string
}

/** Looks up the peers of a server. */
export interface Peers {
  /**
   * The peer through which an ILP address is reached, for a payer with an account in `from` and a receiver in `to`;
   * `undefined` if there is none.
   */
  peerFor(destination: string, from: Asset, to: Asset): Peer | undefined
  peerByAccount(account: string): Peer | undefined
  /** The peer whose incoming token this is. The time it takes does not depend on the token. */
  peerByToken(token: string, cryptography: Cryptography): Promise<Peer | undefined>
  /** The accounts with the server at an ILP address: all of them, or the one in an asset. */
  peersAt(address: string, asset?: Asset): readonly Peer[]
}

/** Looks peers up. */
export function createPeers(settings: readonly IlpPeerSettings[]): Peers {
  const peers: readonly Peer[] = settings.map((peer) => ({ ...peer, account: accountOf(peer) }))
  return {
    peerFor(destination, from, to) {
      const lengths = peers.map((peer) => matchLength(peer, destination))
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
function matchLength({ prefixes, isDefault }: Peer, destination: string): number {
  const matching = prefixes.filter((prefix) => destination === prefix || destination.startsWith(`${prefix}.`))
  return Math.max(isDefault ? 0 : -1, ...matching.map(({ length }) => length))
}
