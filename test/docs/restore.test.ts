import type { Change, Storage } from 'open-payments-server'
import { type Books, creditIdOf, type ReconcileAllOptions, reconcileAll } from 'open-payments-server/reconciliation'
import { memoryStorage } from 'open-payments-server/storage/memory'
import { describe, expect, it } from 'vitest'
import { KINDS } from '../../src/testing/storage-case.ts'
import { checkMoney } from '../payments/money-invariants.ts'
import {
  ask,
  grantTokens,
  moneyWorld,
  OPENING,
  type OpenStorage,
  type PreparedPayment,
  type Process,
  pay,
  preparePayment,
  recoverUntilQuiet,
  signedBy,
  type World,
} from '../payments/money-world.ts'
import { lastSegment } from '../support/last-segment.ts'
import { ALICE, BASE, usd, usdAmount } from '../support/test-wallet.ts'
import { FOR_NO_PAYMENT } from './restored-wallet.ts'

// What docs/production.md says of a storage that was restored to an earlier moment than its ledger.

async function backUp(storage: OpenStorage): Promise<Storage> {
  const backup = memoryStorage()
  for (const kind of KINDS) {
    for (const record of await storage.all(kind)) await backup.commit([{ ...record, action: 'insert' } as Change])
  }
  return backup
}

/** Pays in a process that ends after a call of the ledger. */
async function payUntil(world: World, prepared: PreparedPayment, last: 'hold' | 'credit'): Promise<void> {
  const process = world.start()
  process.ports.plan = ({ port, name }) => (port === 'ledger' && name === last ? 'crashes after' : undefined)
  await pay(world, process, prepared)
}

async function moneyOf({
  ledger,
}: World): Promise<{ readonly taken: bigint; readonly held: bigint; readonly paid: bigint }> {
  const [alice, bob] = await Promise.all([ledger.balance('alice'), ledger.balance('bob')])
  return { taken: OPENING - (alice?.total ?? 0n), held: alice?.held ?? 0n, paid: bob?.total ?? 0n }
}

async function paymentOf(storage: Storage, state: string): Promise<string> {
  const due = await storage.due('outgoing-payment', Number.MAX_SAFE_INTEGER, 100)
  const found = due.find(({ value }) => 'state' in value && value.state === state)
  return found?.value.id ?? ''
}

function receivingId({ incomingUrl }: PreparedPayment): string {
  return lastSegment(incomingUrl)
}

function recoverLater(world: World, process: Process): Promise<number> {
  world.wallet.clock.advance(30_000)
  return process.openPayments.recover()
}

/** What the ledger of a world has booked; it holds what the storage that was lost had not ended. */
async function booksOf({ ledger, storage }: World): Promise<Books> {
  const accounts = ['alice', 'bob', 'clearing:USD:2', 'fees:USD:2']
  const lines = (await Promise.all(accounts.map((account) => ledger.entries(account)))).flat()
  const unfinished = await storage.due('outgoing-payment', Number.MAX_SAFE_INTEGER, 100)
  return {
    lines: lines.flatMap(({ transfer: id, ...line }) => (id.startsWith('opening:') ? [] : [{ ...line, id }])),
    openHolds: unfinished.map(({ value: { id } }) => ({ id, at: Date.now() })),
  }
}

describe('a storage that was restored to an earlier moment', () => {
  it('ends what was under way as it had ended, and moves nothing twice', async () => {
    const world = await moneyWorld()
    await payUntil(world, await preparePayment(world, await grantTokens(world)), 'credit')
    const backup = await backUp(world.storage)
    await recoverUntilQuiet(world)
    const before = await moneyOf(world)
    const restored = world.start({ storage: backup })
    // The payment, and its first event, unless the payment was faster to tell it.
    expect([1, 2]).toContain(await recoverLater(world, restored))
    expect(await moneyOf(world)).toEqual(before)
    expect(before).toEqual({ taken: 10n, held: 0n, paid: 10n })
    await checkMoney(world)
  })

  it('takes the same signed order again for six minutes, and not any more afterwards', async () => {
    const world = await moneyWorld()
    const prepared = await preparePayment(world, await grantTokens(world))
    const backup = await backUp(world.storage)
    const request = await signedBy(world, 'POST', `${BASE}/outgoing-payments`, prepared.token, prepared.body)
    const process = world.start()
    await ask(process, request)
    await process.openPayments.drain()
    expect((await moneyOf(world)).paid).toBe(10n)

    const restored = world.start({ storage: backup })
    world.wallet.clock.advance(299_000)
    expect((await ask(restored, request))?.status).toBe(201)
    await restored.openPayments.drain()
    expect((await moneyOf(world)).paid).toBe(20n)

    const later = world.start({ storage: await backUp(world.storage) })
    world.wallet.clock.advance(62_000)
    expect((await ask(later, request))?.status).toBe(401)
  })

  it('has forgotten what was spent and received, and is told so', async () => {
    const world = await moneyWorld()
    const tokens = await grantTokens(world, { debitAmount: usd('10') })
    const prepared = await preparePayment(world, tokens)
    const backup = await backUp(world.storage)
    await pay(world, world.start(), prepared)

    const restored = world.start({ storage: backup })
    const { grants, incomingPayments } = restored.openPayments
    // The receiver: what the ledger has credited counts again, without another credit.
    const counted = await incomingPayments.received(receivingId(prepared), usdAmount(10n), 'restored: id of the credit')
    expect(counted).toEqual({ ok: true, accepted: 10n, excess: 0n })
    const order = () => signedBy(world, 'POST', `${BASE}/outgoing-payments`, prepared.token, prepared.body)
    expect((await ask(restored, await order()))?.body.error.code).toBe('invalid_receiver')
    // The payer: the grant would pay as much again, until it is ended.
    const [grant] = await grants.list('https://wallet.example/alice')
    expect(await grants.revoke('https://wallet.example/alice', grant?.id ?? '')).toBe(true)
    world.wallet.clock.advance(1000)
    expect((await ask(restored, await order()))?.status).toBe(401)
    expect(await moneyOf(world)).toEqual({ taken: 10n, held: 0n, paid: 10n })
  })

  it('leaves holds that no payment names, to be freed by hand', async () => {
    const world = await moneyWorld()
    const prepared = await preparePayment(world, await grantTokens(world))
    const backup = await backUp(world.storage)
    await payUntil(world, prepared, 'hold')
    const forgotten = await paymentOf(world.storage, 'created')

    const restored = world.start({ storage: backup })
    expect(await recoverLater(world, restored)).toBe(0)
    expect((await moneyOf(world)).held).toBe(10n)
    expect(await world.ledger.release({ id: forgotten })).toEqual({ ok: true })
    expect(await moneyOf(world)).toEqual({ taken: 0n, held: 0n, paid: 0n })
  })

  it('finds what was forgotten however young it is, and not again once that is noted', async () => {
    const world = await moneyWorld()
    const tokens = await grantTokens(world)
    const [paid, held] = [await preparePayment(world, tokens), await preparePayment(world, tokens)]
    const backup = await backUp(world.storage)
    const young = await preparePayment(world, tokens)
    for (const prepared of [paid, young]) await pay(world, world.start(), prepared)
    const forgotten: string[] = []
    for await (const { holdId, creditId = '' } of world.wallet.openPayments.audit(ALICE))
      forgotten.push(holdId, creditId)
    await payUntil(world, held, 'hold')
    forgotten.push(await paymentOf(world.storage, 'created'))
    expect(new Set(forgotten).size).toBe(5)

    const restored = world.start({ storage: backup }).openPayments
    const reconcileWith = (more: Partial<ReconcileAllOptions> = {}) =>
      reconcileAll({ openPayments: restored, walletAddresses: [ALICE], readBooks: () => booksOf(world), ...more })
    // By default all of it is taken for in flight.
    expect(await reconcileWith()).toEqual([])
    const found = await reconcileWith({ isAfterRestore: true })
    expect(found.toSorted()).toEqual(forgotten.map((id) => `${id}: ${FOR_NO_PAYMENT}`).toSorted())
    // An incoming payment that was forgotten too cannot be told: nothing is left to do, its payee has the money.
    const told = await restored.incomingPayments.received(receivingId(young), usdAmount(10n), 'restored')
    expect(told).toEqual({ ok: false, reason: 'unknown' })
    expect((await moneyOf(world)).paid).toBe(20n)
    expect(await reconcileWith({ isAfterRestore: true, noted: forgotten })).toEqual([])
  })

  it.each([
    [
      'pays the payee of a payment that had failed, and cannot charge the payer',
      false,
      { taken: 0n, held: 0n, paid: 10n },
    ],
    ['lets it fail again where its credit was refused by hand', true, { taken: 0n, held: 0n, paid: 0n }],
  ] as const)('%s', async (_, isRefusedByHand, expected) => {
    const world = await moneyWorld()
    const prepared = await preparePayment(world, await grantTokens(world))
    // Held and shown, and then its receiver takes no more: so it is released, and no credit was ever asked for.
    const process = world.start()
    process.ports.plan = ({ name }) => (name === 'credit' ? 'crashes before' : undefined)
    await pay(world, process, prepared)
    const backup = await backUp(world.storage)
    const [held] = await world.storage.all('outgoing-payment')
    const { id = '', payeeAccount = '', account = '' } = held?.value ?? {}
    await world.ledger.release({ id })

    const restored = world.start({ storage: backup })
    if (isRefusedByHand) {
      const amount = { value: 10n, assetCode: 'USD', assetScale: 2 }
      const counterparty = { kind: 'local', account, incomingPayment: receivingId(prepared) } as const
      await world.ledger.setPermissions('bob', { canSend: false, canReceive: false })
      await world.ledger.credit({ id: await creditIdOf(id), account: payeeAccount, amount, counterparty })
      await world.ledger.setPermissions('bob', { canSend: true, canReceive: true })
    }
    await recoverLater(world, restored)
    expect(await moneyOf(world)).toEqual(expected)
    const stalled = world.wallet.events.some(({ type }) => type === 'payment_stalled')
    expect(stalled).toBe(!isRefusedByHand)
  })
})
