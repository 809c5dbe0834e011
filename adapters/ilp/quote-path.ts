import type { Amount, Asset, RailQuote, RailQuoteRequest } from '../../src/index.ts'
import { isSameAsset, MAX_AMOUNT_VALUE } from '../../src/protocol/amount.ts'
import { probePath } from './probe-path.ts'
import { greater, smaller } from './send-money-amounts.ts'
import { openConnection, type Sender } from './stream-connection.ts'

const LONGEST_MILLISECONDS = 2_500
/** Used if no amount is named: enough to measure a rate, and not so much that it overflows somewhere. */
const FIRST_AMOUNT = 10n ** 12n
const LEAST_AMOUNT = 10n ** 4n
/** Measured with a multiple of the amount, so that less than one unit of the payment is lost to rounding. */
const TIMES = 16n

/** Measures the current rate to a receiver, and quotes it less the slippage (none if everything is one to one). */
export async function quotePath(sender: Sender, { details, from, to, amount }: RailQuoteRequest): Promise<RailQuote> {
  const { slippageBasisPoints, peers, server } = sender
  const peer = peers.peerFor(details.ilpAddress, from, to)
  if (peer === undefined)
    return { ok: false, reason: 'unreachable', detail: "no peer for this address, or it is this server's own" }
  const { account, asset, maxPacketAmount } = peer
  const connection = await openConnection(sender, peer, details, server.cryptography.randomBytes(16))
  if (connection === undefined) return { ok: false, reason: 'unreachable', detail: 'its details are not valid' }
  const path = await probePath(connection, {
    first: maxPacketAmount ?? firstAmount(asset, amount),
    most: maxPacketAmount ?? MAX_AMOUNT_VALUE,
    milliseconds: LONGEST_MILLISECONDS,
    isOrdered: false,
  })
  if (!path.ok) {
    const { reason, detail } = path
    if (reason === 'unreachable' || reason === 'unauthorized')
      server.emit({ type: 'rail_unavailable', at: server.clock.now(), railAccount: account, reason, detail })
    return { ok: false, reason: 'unreachable', detail: `${reason}: ${detail}` }
  }
  const { sent, received } = path
  const isOneToOne = sent === received && isSameAsset(asset, to)
  const kept = isOneToOne ? 10_000n : 10_000n - BigInt(slippageBasisPoints)
  return { ok: true, account, asset, rate: { sent: sent * 10_000n, received: received * kept } }
}

/**
 * The amount in the rail's asset, as if one whole unit were worth one of the other asset: the real rate is yet to be
 * found.
 */
function firstAmount({ assetScale }: Asset, amount: Amount | undefined): bigint {
  if (amount === undefined) return FIRST_AMOUNT
  const wanted = (amount.value * TIMES * 10n ** BigInt(assetScale)) / 10n ** BigInt(amount.assetScale)
  return smaller(greater(wanted, LEAST_AMOUNT), MAX_AMOUNT_VALUE)
}
