import { createHash } from 'node:crypto'
import { answerAsPerson } from '../../examples/sandbox/person.ts'
import { type Client, readAnswer } from './signed-flow.ts'
import type { WalletServer } from './wallet-process.ts'

/** A wallet to pay with, and the client that has a wallet address on it. */
export interface PaymentParties {
  readonly server: WalletServer
  readonly shop: Client
}

/** The answer to a grant request that asks for consent. */
export interface PendingGrant {
  readonly interact: { readonly redirect: string; readonly finish: string }
  readonly continue: { readonly uri: string; readonly wait: number; readonly access_token: { readonly value: string } }
}

/** The answer to a request that issues a token. */
export interface IssuedGrant {
  readonly access_token: { readonly value: string; readonly manage: string; readonly expires_in: number }
  readonly continue: { readonly uri: string; readonly access_token: { readonly value: string } }
}

/** A resource as far as the flows read it. */
export type Resource = Readonly<Record<string, unknown>> & { readonly id: string }

const NONCE = 'the-nonce-of-the-shop'
const FINISH_URI = 'http://localhost/done?order=7'

/** An amount in the asset of Alice and Bob. */
export function eur(value: string): Readonly<Record<string, unknown>> {
  return { value, assetCode: 'EUR', assetScale: 2 }
}

/** A wallet address of the wallet. */
export function addressOf({ server }: PaymentParties, name: string): string {
  return `${server.resourceServer}/${name}`
}

/** A grant that needs nobody's consent. */
export function grantAtOnce(parties: PaymentParties, access: readonly unknown[]): Promise<IssuedGrant> {
  const json = { access_token: { access }, client: addressOf(parties, 'shop') }
  return readAnswer(parties.shop.request('POST', parties.server.authServer, { json }), 200)
}

/** Creates an incoming payment for Bob. */
export async function createIncoming(parties: PaymentParties, value: string): Promise<Resource> {
  const access = [{ type: 'incoming-payment', actions: ['create', 'read', 'complete'] }]
  const { access_token } = await grantAtOnce(parties, access)
  const json = { walletAddress: addressOf(parties, 'bob'), incomingAmount: eur(value) }
  const url = `${parties.server.resourceServer}/incoming-payments`
  return readAnswer(parties.shop.request('POST', url, { token: access_token.value, json }), 201)
}

/** Asks to spend so much of Alice's. */
export function requestSpending(parties: PaymentParties, value: string): Promise<PendingGrant> {
  const access = [
    {
      type: 'outgoing-payment',
      actions: ['create', 'read', 'list'],
      identifier: addressOf(parties, 'alice'),
      limits: { debitAmount: eur(value) },
    },
    { type: 'quote', actions: ['create', 'read'] },
  ]
  const interact = { start: ['redirect'], finish: { method: 'redirect', uri: FINISH_URI, nonce: NONCE } }
  const json = { access_token: { access }, client: addressOf(parties, 'shop'), interact }
  return readAnswer(parties.shop.request('POST', parties.server.authServer, { json }), 200)
}

/** Alice logs in where she is asked to, and answers; resolves with where her browser goes then. */
export async function decideAsAlice({ interact }: PendingGrant, decision: 'approve' | 'deny'): Promise<URL> {
  return new URL((await answerAsPerson(interact.redirect, { password: 'alice' }, decision)) ?? '')
}

/** The reference in a finish redirect, once its hash is seen to be right. */
export function verifiedReference({ server }: PaymentParties, pending: PendingGrant, finish: URL): string {
  const reference = finish.searchParams.get('interact_ref') ?? ''
  const hashed = [NONCE, pending.interact.finish, reference, server.authServer].join('\n')
  const expected = createHash('sha256').update(hashed).digest('base64')
  const hash = finish.searchParams.get('hash')
  if (hash !== expected) throw new Error(`the finish hash is ${hash} instead of ${expected}`)
  return reference
}

/** Continues a grant with the reference of its finish redirect, as soon as the server allows it. */
export async function continueGrant(
  { server, shop }: PaymentParties,
  pending: PendingGrant,
  reference: string,
): Promise<Response> {
  await server.advance(pending.continue.wait * 1000)
  const { uri, access_token } = pending.continue
  return shop.request('POST', uri, { token: access_token.value, json: { interact_ref: reference } })
}

/** A grant to spend so much, with Alice's consent. */
export async function grantSpending(parties: PaymentParties, value: string): Promise<IssuedGrant> {
  const pending = await requestSpending(parties, value)
  const reference = verifiedReference(parties, pending, await decideAsAlice(pending, 'approve'))
  return readAnswer(continueGrant(parties, pending, reference), 200)
}
