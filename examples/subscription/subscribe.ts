import {
  type AuthenticatedClient,
  type Grant,
  type GrantContinuation,
  isFinalizedGrantWithAccessToken,
  isPendingGrant,
  type PendingGrant,
  type WalletAddress,
} from '@interledger/open-payments'

/** What a merchant keeps of a subscription. It holds a token: keep it as you keep passwords. */
export interface Subscription {
  readonly customer: WalletAddress
  /** What arrives in each period, in the merchant's asset. */
  readonly price: { readonly value: string; readonly assetCode: string; readonly assetScale: number }
  readonly token: { readonly value: string; readonly manage: string }
  /** The period that was charged last, and its two payments: the incoming one, and the outgoing one once it was ordered. */
  readonly charged?: { readonly period: string; readonly incoming: string; readonly outgoing?: string }
}

/** A merchant: its client, its own wallet address, and what it needs from outside. */
export interface Merchant {
  readonly client: AuthenticatedClient
  readonly wallet: WalletAddress
  /** Saves the subscription in place of its last state; resolves once that is done. */
  save(subscription: Subscription): Promise<void>
  now(): number
  sleep(milliseconds: number): Promise<unknown>
}

/**
 * Asks a customer to allow the price once per `interval` (`R/2026-03-01T00:00:00Z/P1M`: in every month from March on).
 * They open `interact.redirect` and answer there.
 */
export async function subscribe(
  { client }: Merchant,
  { customer, price }: Pick<Subscription, 'customer' | 'price'>,
  interval: string,
): Promise<PendingGrant> {
  // The limit is on what arrives: what leaves the customer's account may vary with rates and with their wallet's fee.
  const limits = { receiveAmount: price, interval }
  const grant = await client.grant.request(
    { url: customer.authServer },
    {
      access_token: {
        access: [
          { type: 'outgoing-payment', actions: ['create', 'read'], identifier: customer.id, limits },
          { type: 'quote', actions: ['create'] },
        ],
      },
      // A website adds `finish`, so that customers come back, and accepts only the browser that it sent: see the shop.
      interact: { start: ['redirect'] },
    },
  )
  if (!isPendingGrant(grant)) throw new Error('a wallet must ask its customer before money leaves')
  return grant
}

/**
 * Asks until the customer has answered. Rejects if they denied, or took too long. What they allow is in `access` of the
 * token, and may be less than was asked for.
 */
export async function awaitConsent({ client, sleep }: Merchant, pending: PendingGrant) {
  let grant: PendingGrant | Grant | GrantContinuation = pending
  while (!isFinalizedGrantWithAccessToken(grant)) {
    const { uri: url, access_token, wait = 5 } = grant.continue
    await sleep(wait * 1000)
    grant = await client.grant.continue({ url, accessToken: access_token.value })
  }
  return grant.access_token
}
