import { isFinalizedGrantWithAccessToken, OpenPaymentsClientError } from '@interledger/open-payments'
import type { Merchant, Subscription } from './subscribe.ts'

/** What a charge came to. After `sent`, charge again soon; after `refused`, later. After `ended`, a new grant is needed. */
export type Charge = 'paid' | 'sent' | 'ended' | { readonly refused: string }

/** Takes the price for a period once, however often it is called. Call it until it resolves with `paid`. */
export async function charge(merchant: Merchant, subscription: Subscription, period: string): Promise<Charge> {
  const { client, wallet, save, now } = merchant
  const { customer, price } = subscription
  const own = { url: wallet.resourceServer, accessToken: await requestToken(merchant) }

  // 1. Where the money is to arrive. It is saved first: whatever happens from here on, it takes the price only once.
  let { charged } = subscription
  const known = charged?.period === period && (await client.incomingPayment.get({ ...own, url: charged.incoming }))
  if (known && BigInt(known.receivedAmount.value) >= BigInt(price.value)) return 'paid'
  if (!charged || !known || Date.parse(known.expiresAt ?? '9999') <= now()) {
    const incoming = await client.incomingPayment.create(own, { walletAddress: wallet.id, incomingAmount: price })
    charged = { period, incoming: incoming.id }
    await save({ ...subscription, charged })
  }

  // 2. A token lives for minutes and a subscription for years, so each charge begins with a fresh one. The old one is
  // dead by then, so the new one is saved before it is used. (If the answer is lost, repeat the call within a minute.)
  const { value: accessToken, manage } = subscription.token
  const rotated = await client.token.rotate({ url: manage, accessToken }).catch(unless([404]))
  if ('refused' in rotated) return 'ended' // by the customer, or by their wallet
  const token = rotated.access_token
  await save({ ...subscription, token, charged })

  // 3. The order, unless one is under way already.
  const theirs = { url: customer.resourceServer, accessToken: token.value }
  if (charged.outgoing !== undefined) {
    const { failed } = await client.outgoingPayment.get({ ...theirs, url: charged.outgoing })
    if (!failed) return 'sent'
  }
  const order = async () => {
    const quoted = { walletAddress: customer.id, receiver: charged.incoming, method: 'ilp' } as const
    const quote = await client.quote.create(theirs, quoted)
    return client.outgoingPayment.create(theirs, { walletAddress: customer.id, quoteId: quote.id })
  }
  const ordered = await order().catch(unless([400, 403]))
  if ('refused' in ordered) return ordered
  await save({ ...subscription, token, charged: { ...charged, outgoing: ordered.id } })
  return 'sent'
}

/** Turns answers with these statuses, which had no effect, into values. What happened after any other error is unknown. */
function unless(statuses: readonly number[]): (error: unknown) => { readonly refused: string } {
  return (error) => {
    const isRefusal = error instanceof OpenPaymentsClientError && statuses.includes(error.status ?? 0)
    if (!isRefusal) throw error
    return { refused: error.code ?? error.description }
  }
}

/** For the merchant's own wallet, which asks nobody for consent to this. */
async function requestToken({ client, wallet }: Merchant): Promise<string> {
  const access = [{ type: 'incoming-payment' as const, actions: ['create' as const, 'read' as const] }]
  const grant = await client.grant.request({ url: wallet.authServer }, { access_token: { access } })
  if (!isFinalizedGrantWithAccessToken(grant)) throw new Error('the wallet gave no access to incoming payments')
  return grant.access_token.value
}
