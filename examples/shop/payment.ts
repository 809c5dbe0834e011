import { createHash, randomUUID, timingSafeEqual } from 'node:crypto'
import { setTimeout as sleep } from 'node:timers/promises'
import {
  type AuthenticatedClient,
  type GrantRequest,
  isFinalizedGrantWithAccessToken,
  isPendingGrant,
  OpenPaymentsClientError,
  type WalletAddress,
} from '@interledger/open-payments'

/** What a shop saves before it sends a buyer to their wallet. It holds a token: keep it as you keep passwords. */
export interface Payment {
  /** Where the money has to arrive, at the shop's own wallet. */
  readonly incomingPayment: string
  readonly buyer: WalletAddress
  readonly quote: string
  readonly nonces: { readonly client: string; readonly server: string }
  readonly continuation: { readonly url: string; readonly accessToken: string; readonly notBefore: number }
}

/** Sets a payment up. The buyer's browser goes to `redirect`, and comes back to `finishUrl` with a query. */
export async function startPayment(
  client: AuthenticatedClient,
  shop: WalletAddress,
  buyer: WalletAddress,
  order: { readonly id: string; readonly price: string; readonly finishUrl: string },
): Promise<{ readonly payment: Payment; readonly redirect: string }> {
  const { assetCode, assetScale } = shop
  const incomingPayment = await client.incomingPayment.create(
    { url: shop.resourceServer, accessToken: await requestToken(client, shop, 'incoming-payment') },
    {
      walletAddress: shop.id,
      incomingAmount: { value: order.price, assetCode, assetScale },
      metadata: { order: order.id },
    },
  )
  // What it costs in the buyer's own currency, their wallet's fee included: they are asked to allow that much, and no more.
  const quote = await client.quote.create(
    { url: buyer.resourceServer, accessToken: await requestToken(client, buyer, 'quote') },
    { walletAddress: buyer.id, receiver: incomingPayment.id, method: 'ilp' },
  )
  const nonce = randomUUID()
  const limits = { debitAmount: quote.debitAmount, receiver: incomingPayment.id }
  const grant = await client.grant.request(
    { url: buyer.authServer },
    {
      access_token: {
        access: [{ type: 'outgoing-payment', actions: ['create', 'read'], identifier: buyer.id, limits }],
      },
      interact: { start: ['redirect'], finish: { method: 'redirect', uri: order.finishUrl, nonce } },
    },
  )
  if (!isPendingGrant(grant)) throw new Error('a wallet must ask its customer before money leaves')
  const { uri: url, access_token, wait = 5 } = grant.continue
  return {
    redirect: grant.interact.redirect,
    payment: {
      incomingPayment: incomingPayment.id,
      buyer,
      quote: quote.id,
      nonces: { client: nonce, server: grant.interact.finish },
      continuation: { url, accessToken: access_token.value, notBefore: Date.now() + wait * 1000 },
    },
  }
}

/** Once the buyer is back, gets what they have allowed and resolves with the token. This pays nothing. */
export async function continueGrant(client: AuthenticatedClient, payment: Payment, query: URLSearchParams) {
  const { continuation } = payment
  const reference = query.get('interact_ref') ?? ''
  if (!isFromWallet(payment, reference, query.get('hash') ?? '')) throw new Error('this is not what the wallet sent')
  await sleep(Math.max(0, continuation.notBefore - Date.now()))
  const grant = await client.grant.continue(continuation, { interact_ref: reference })
  if (!('access_token' in grant) || grant.access_token === undefined) throw new Error('the wallet gave no access')
  return grant.access_token.value
}

/**
 * Orders the payment; a quote pays once, however often it is ordered. Whether the money has arrived is another question:
 * see `isPaid`. `refused` is about this order only: an earlier one that is `unknown` may be the one that used the quote.
 */
export async function orderPayment(client: AuthenticatedClient, { buyer, quote }: Payment, accessToken: string) {
  const order = { walletAddress: buyer.id, quoteId: quote }
  try {
    await client.outgoingPayment.create({ url: buyer.resourceServer, accessToken }, order)
    return 'ordered'
  } catch (error) {
    console.error(error)
    const status = error instanceof OpenPaymentsClientError ? error.status : undefined
    // After any other error, or no answer in time, the wallet may have taken the order.
    return status !== undefined && [400, 401, 403, 404].includes(status) ? 'refused' : 'unknown'
  }
}

/** The only reason to deliver the goods: the shop's own wallet says that the whole price is there. */
export async function isPaid(client: AuthenticatedClient, shop: WalletAddress, payment: Payment): Promise<boolean> {
  const accessToken = await requestToken(client, shop, 'incoming-payment')
  const { incomingAmount, receivedAmount } = await client.incomingPayment.get({
    url: payment.incomingPayment,
    accessToken,
  })
  return incomingAmount !== undefined && BigInt(receivedAmount.value) >= BigInt(incomingAmount.value)
}

/** Only the wallet and this shop know both nonces: without this check anybody could send a buyer back with a reference of their own. */
function isFromWallet({ nonces, buyer }: Payment, reference: string, hash: string): boolean {
  const text = [nonces.client, nonces.server, reference, buyer.authServer].join('\n')
  const [expected, given] = [createHash('sha256').update(text).digest(), Buffer.from(hash, 'base64')]
  return expected.length === given.length && timingSafeEqual(expected, given)
}

/** These need nobody's consent, so the token comes at once. */
async function requestToken(client: AuthenticatedClient, at: WalletAddress, type: 'incoming-payment' | 'quote') {
  const actions: ('create' | 'read')[] = ['create', 'read']
  const access_token: GrantRequest['access_token'] = { access: [{ type, actions }] }
  const grant = await client.grant.request({ url: at.authServer }, { access_token })
  if (!isFinalizedGrantWithAccessToken(grant)) throw new Error(`the wallet gave no access to a ${type}`)
  return grant.access_token.value
}
