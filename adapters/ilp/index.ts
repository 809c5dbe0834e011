/**
 * Receivers and senders on other servers, over Interledger.
 *
 * @module open-payments-server/ilp
 */

import {
  type Asset,
  ConfigurationError,
  type PaymentMethod,
  type RailBalance,
  type RailServer,
} from '../../src/index.ts'
import { createSender } from './deliver.ts'
import { answerPeer } from './endpoint.ts'
import { type IlpOptions, resolveIlpOptions } from './options.ts'
import { createPeers } from './peers.ts'
import { readSettled } from './read-settled.ts'

export type { IlpOptions, IlpPeer } from './options.ts'
export type { SendToPeer } from './send-packet.ts'

/** What this server has moved to and from a peer, in the asset of the account with it. */
export interface PeerBalance extends RailBalance {
  readonly asset: Asset
  /** What the wallet's books say was settled; zero if they are not asked. */
  readonly settled: bigint
  /** What the peer owes this wallet; if negative, what this wallet owes it. */
  readonly owed: bigint
}

/** The payment method `ilp` of one server. */
export interface Ilp extends PaymentMethod {
  /**
   * Where this server stands with a peer, in `asset`, which may be omitted if there is only one account with that peer.
   * Rejects with a `RangeError` if there is no such account; also rejects if the storage or `settled` fails, or `settled`
   * takes longer than 3 seconds.
   */
  balance(peerAddress: string, asset?: Asset): Promise<PeerBalance>
}

/**
 * The payment method `ilp`: incoming payments get an ILP address and a secret of their own, packets for them are accepted at
 * `path`, and receivers on other servers are paid through peers. Each server needs its own. Throws a `ConfigurationError`
 * that names the option.
 */
export function ilp(options: IlpOptions): Ilp {
  const settings = resolveIlpOptions(options)
  const peers = createPeers(settings)
  let connected: RailServer | undefined
  const server = (): RailServer => {
    if (connected === undefined) throw new ConfigurationError('ilp(...) must be in the paymentMethods of a server')
    return connected
  }
  return {
    type: 'ilp',
    connect(other) {
      if (connected !== undefined) throw new ConfigurationError('ilp(...) serves one server: each needs its own')
      connected = other
    },
    createDetails: async ({ address, sharedSecret }) => ({
      type: 'ilp',
      ilpAddress: `${settings.address}.${address}`,
      sharedSecret,
    }),
    ...createSender(settings, peers, server),
    endpoint: {
      path: settings.path,
      handle: (request) => answerPeer(server(), settings.address, peers, request),
    },
    async balance(peerAddress, asset) {
      const [peer, ...others] = peers.peersAt(peerAddress, asset)
      if (peer === undefined || others.length > 0)
        throw new RangeError('no peer, or more than one, has this address and asset')
      const [{ sent, received }, settled] = await Promise.all([
        server().balance(peer.account),
        readSettled(server().clock, peer),
      ])
      return { asset: peer.asset, sent, received, settled, owed: received - sent - settled }
    },
  }
}
