import { expect } from 'vitest'
import { type Fault, faultAt } from '../payments/faulty-ports.ts'
import { OPENING, type PreparedPayment, pay, preparePayment } from '../payments/money-world.ts'
import type { AnswerBody } from '../support/answer-body.ts'
import { keyed } from '../support/keyed.ts'
import {
  ALICE,
  decideAs,
  grantAtOnce,
  grantWithConsent,
  requestConsent,
  usd,
  usdAmount,
} from '../support/test-wallet.ts'
import { moveBetweenWallets, type RailsInMidlife, type WorldWithRail } from './rails-in-midlife.ts'

/** What the clients and owners of a wallet know when a release stops: all that they need to go on with another one. */
export interface Midlife {
  readonly now: number
  readonly spending: { readonly token: string; readonly manage: string }
  readonly receiving: string
  /** A quote that nobody has used, and the incoming payment that it is for. */
  readonly quote: PreparedPayment
  /** A request under a key, and its answer. */
  readonly keyed: { readonly body: unknown; readonly answer: AnswerBody }
  /** A grant that its owner has approved, and that its client has not continued. */
  readonly approved: { readonly uri: string; readonly token: string; readonly reference: string }
  /** An incoming payment to which a rail has brought 3 of 10. */
  readonly partlyReceived: string
  /** An incoming payment without an amount. */
  readonly open: string
  /** How far each interrupted payment had come. */
  readonly interrupted: readonly string[]
  readonly rails: RailsInMidlife
}

/** Payments of 10 under a limit of 200: one in full, one refused, one that failed, and seven interrupted at every step; and two of 5 to another wallet. */
export async function liveHalfALife(world: WorldWithRail): Promise<Midlife> {
  const { wallet } = world
  for (const [account, balance] of [
    ['alice', OPENING],
    ['bob', 0n],
  ] as const) {
    await world.ledger.createAccount({ account, assetCode: 'USD', assetScale: 2, balance })
  }
  await world.ledger.createAccount({ account: 'carol', assetCode: 'EUR', assetScale: 4 })
  const limits = { debitAmount: usd('200'), interval: 'R/2026-03-01T00:00:00Z/P1M' }
  const outgoing = { type: 'outgoing-payment', actions: ['create', 'read', 'list'], identifier: ALICE }
  const quotes = { type: 'quote', actions: ['create', 'read'] }
  const spending = await grantWithConsent(wallet, [{ ...outgoing, limits }, quotes])
  const receiving = await grantAtOnce(wallet, [{ type: 'incoming-payment', actions: ['create', 'read', 'list'] }])
  const tokens = { spending: spending.body.access_token.value, receiving: receiving.body.access_token.value }
  const prepare = (): Promise<PreparedPayment> => preparePayment(world, tokens)

  const kept = await prepare()
  const answer = await pay(world, world.start(), kept, keyed('order-7'))
  expect(answer?.status).toBe(201)

  const [refused, failed, failing] = [await prepare(), await prepare(), await prepare()]
  await world.ledger.setPermissions('alice', { canSend: false, canReceive: true })
  expect(await pay(world, world.start(), refused)).toMatchObject({ status: 403 })
  await world.ledger.setPermissions('alice', { canSend: true, canReceive: true })
  await world.ledger.setPermissions('bob', { canSend: true, canReceive: false })
  expect(await pay(world, world.start(), failed)).toMatchObject({ status: 201 })
  const releasing = world.start()
  faultAt(releasing.ports, 1, 'crashes before', ({ name }) => name === 'release')
  await pay(world, releasing, failing)
  await world.ledger.setPermissions('bob', { canSend: true, canReceive: true })

  const breaks: readonly (readonly [Fault, string])[] = [
    ['crashes before', 'hold'],
    ['crashes after', 'hold'],
    ['crashes before', 'credit'],
    ['crashes after', 'credit'],
    ['crashes before', 'settle'],
    ['crashes after', 'settle'],
  ]
  for (const [fault, step] of breaks) {
    const process = world.start()
    faultAt(process.ports, 1, fault, ({ name }) => name === step)
    await pay(world, process, await prepare())
  }

  const partly = await preparePayment(world, tokens)
  await wallet.openPayments.incomingPayments.received(partly.incomingId, usdAmount(3n), 'transfer 1')
  const open = await preparePayment(world, tokens, { incoming: {}, from: 'incoming payment' })
  const quote = await prepare()
  const pending = await requestConsent(wallet, [outgoing, quotes])
  const redirect = await decideAs(wallet, pending)
  const rails = await moveBetweenWallets(world, tokens)
  return {
    now: wallet.clock.now(),
    spending: { token: tokens.spending, manage: spending.body.access_token.manage },
    receiving: tokens.receiving,
    quote,
    keyed: { body: kept.body, answer: answer?.body as AnswerBody },
    approved: {
      uri: pending.body.continue.uri,
      token: pending.body.continue.access_token.value,
      reference: redirect?.searchParams.get('interact_ref') ?? '',
    },
    partlyReceived: partly.incomingUrl,
    open: open.incomingUrl,
    interrupted: ['release', ...breaks.map(([fault, step]) => `${fault} ${step}`)],
    rails,
  }
}
