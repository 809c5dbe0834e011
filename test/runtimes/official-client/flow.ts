import type { KeyObject } from 'node:crypto'
import {
  type AuthenticatedClient,
  createAuthenticatedClient,
  isFinalizedGrantWithAccessToken,
  isPendingGrant,
} from '@interledger/open-payments'
import { answerAsPerson } from '../../../examples/sandbox/person.ts'

/** Who takes part, and how the server's time is moved on. */
export interface OfficialFlow {
  readonly client: { readonly walletAddress: string; readonly keyId: string; readonly privateKey: KeyObject }
  readonly payer: string
  readonly payee: string
  /** What the payer fills into the login form. */
  readonly credentials: Readonly<Record<string, string>>
  advance(milliseconds: number): Promise<void>
}

/** What came of it: what was sent, arrived and counts against the grant, and whether a revoked token is refused. */
export interface OfficialOutcome {
  readonly sent: unknown
  readonly received: unknown
  readonly spent: unknown
  readonly isRevoked: boolean
}

const amount = { value: '250', assetCode: 'EUR', assetScale: 2 }

/** The flow of the specification with the official client, which checks every answer against the published documents. */
export async function playOfficialFlow(flow: OfficialFlow): Promise<OfficialOutcome> {
  const { walletAddress: walletAddressUrl, keyId, privateKey } = flow.client
  const client = await createAuthenticatedClient({ walletAddressUrl, keyId, privateKey, useHttp: true })
  const payer = await client.walletAddress.get({ url: flow.payer })
  const payee = await client.walletAddress.get({ url: flow.payee })
  const { keys } = await client.walletAddress.getKeys({ url: walletAddressUrl })
  if (keys[0]?.kid !== keyId) throw new Error('the key set has another key')

  const receiving = await client.grant.request(
    { url: payee.authServer },
    { access_token: { access: [{ type: 'incoming-payment', actions: ['create', 'read', 'list'] }] } },
  )
  if (!isFinalizedGrantWithAccessToken(receiving)) throw new Error('the grant should have come at once')
  const rotated = await client.token.rotate({
    url: receiving.access_token.manage,
    accessToken: receiving.access_token.value,
  })
  const receiver = { url: payee.resourceServer, accessToken: rotated.access_token.value }
  const incoming = await client.incomingPayment.create(receiver, {
    walletAddress: payee.id,
    incomingAmount: amount,
    metadata: { order: 'Käse' },
  })

  const accessToken = await grantSpending(client, flow, payer)
  const sender = { url: payer.resourceServer, accessToken }
  const quote = await client.quote.create(sender, { walletAddress: payer.id, receiver: incoming.id, method: 'ilp' })
  const outgoing = await client.outgoingPayment.create(sender, { walletAddress: payer.id, quoteId: quote.id })
  await flow.advance(0)

  const { sentAmount: sent } = await client.outgoingPayment.get({ ...sender, url: outgoing.id })
  const { receivedAmount: received } = await client.incomingPayment.get({ ...receiver, url: incoming.id })
  const { spentDebitAmount: spent } = await client.outgoingPayment.getGrantSpentAmounts(sender)
  const listed = await client.incomingPayment.list(
    { ...receiver, walletAddress: payee.id },
    { first: 5, 'wallet-address': payee.id },
  )
  if (!listed.result.some(({ id }) => id === incoming.id)) throw new Error('the list lacks the payment')
  await client.token.revoke({ url: rotated.access_token.manage, accessToken: rotated.access_token.value })
  const isRevoked = await client.incomingPayment.get({ ...receiver, url: incoming.id }).then(
    () => false,
    () => true,
  )
  return { sent, received, spent, isRevoked }
}

async function grantSpending(
  client: AuthenticatedClient,
  { credentials, advance }: OfficialFlow,
  payer: { readonly id: string; readonly authServer: string },
): Promise<string> {
  const pending = await client.grant.request(
    { url: payer.authServer },
    {
      access_token: {
        access: [
          {
            type: 'outgoing-payment',
            actions: ['create', 'read'],
            identifier: payer.id,
            limits: { debitAmount: amount },
          },
          { type: 'quote', actions: ['create', 'read'] },
        ],
      },
      interact: { start: ['redirect'], finish: { method: 'redirect', uri: 'http://localhost/done', nonce: 'n' } },
    },
  )
  if (!isPendingGrant(pending)) throw new Error('nobody is asked')
  const finish = new URL((await answerAsPerson(pending.interact.redirect, credentials, 'approve')) ?? '')
  await advance((pending.continue.wait ?? 0) * 1000)
  const continued = await client.grant.continue(
    { url: pending.continue.uri, accessToken: pending.continue.access_token.value },
    { interact_ref: finish.searchParams.get('interact_ref') ?? '' },
  )
  if (!isFinalizedGrantWithAccessToken(continued)) throw new Error('the grant should have been issued')
  return continued.access_token.value
}
