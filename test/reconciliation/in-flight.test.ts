import type { AuditedPayment, Ledger } from 'open-payments-server'
import { type BookedLine, type Books, reconcileAll } from 'open-payments-server/reconciliation'
import { describe, expect, it } from 'vitest'
import { ALICE, testLedger, testWallet } from '../support/test-wallet.ts'
import { payTenDollars } from './one-day.ts'

/** A payment of 10.00 with a fee of 0.10, an hour after the ledger stopped answering a call of it. */
async function standingStill(call: 'credit' | 'settle') {
  const away = () => Promise.reject(new Error('injected: the ledger is away'))
  const faulty: Ledger = { ...testLedger(), [call]: away }
  const wallet = await testWallet({
    ledger: faulty,
    pricing: { price: async () => ({ rate: '1', fee: { basisPoints: 100 } }) },
  })
  await payTenDollars(wallet)
  const payments: AuditedPayment[] = []
  for await (const audited of wallet.openPayments.audit(ALICE)) payments.push(audited)
  const [audited] = payments
  if (audited === undefined) throw new Error('there is no payment')
  return { audited, now: wallet.clock.now() + 3_600_000 }
}

const CREDIT = { bob: 990n, 'clearing:USD:2': -990n }
const SETTLEMENT = { alice: -1000n, 'fees:USD:2': 10n, 'clearing:USD:2': 990n }
const WITHOUT_FEE = { alice: -1000n, 'clearing:USD:2': 1000n }
const NONE = {}

type Sums = Readonly<Record<string, bigint>>

/** What is found beside that the payment still stands where it does. */
async function findingsOf(call: 'credit' | 'settle', isHeld: boolean, credit: Sums, settlement: Sums) {
  const { audited, now } = await standingStill(call)
  const { id, state, holdId, creditId = '' } = audited
  const linesOf = (of: string, sums: Sums): BookedLine[] =>
    Object.entries(sums).map(([account, amount]) => ({ id: of, account, amount, at: now }))
  const books: Books = {
    lines: [...linesOf(creditId, credit), ...linesOf(holdId, settlement)],
    openHolds: isHeld ? [{ id: holdId, at: now }] : [],
  }
  async function* payments() {
    yield audited
  }
  const [first, ...found] = await reconcileAll({
    openPayments: { audit: payments },
    walletAddresses: [ALICE],
    readBooks: () => books,
    clock: { now: () => now },
  })
  expect(first).toBe(`${id}: still ${state}`)
  return found.map((difference) => difference.replace(`${id}: `, ''))
}

describe('a payment within the wallet that stands between calls of the ledger', () => {
  it.each([
    ['is held and not credited', true, NONE, NONE, []],
    ['is held and credited', true, CREDIT, NONE, []],
    ['is settled and credited', false, CREDIT, SETTLEMENT, []],
    ['is settled and was never credited', false, NONE, SETTLEMENT, ['sending, hold: no', 'sending, settlement: yes']],
    ['is settled, held and was never credited', true, NONE, SETTLEMENT, ['sending, settlement: yes']],
    ['is credited, and neither held nor settled', false, CREDIT, NONE, ['sending, hold: no']],
    ['is neither held nor booked', false, NONE, NONE, ['sending, hold: no']],
    ['is settled, credited and still held', true, CREDIT, SETTLEMENT, ['sending, hold: yes']],
    ['is settled otherwise', false, CREDIT, WITHOUT_FEE, ['sending, settlement: other']],
    ['is credited with less', true, { bob: 989n, 'clearing:USD:2': -989n }, NONE, ['sending, credit: other']],
    ['is settled, and credited with less', false, { bob: 989n }, SETTLEMENT, ['sending, credit: other']],
  ])('%s, while it is sent', async (_, isHeld, credit, settlement, found) => {
    expect(await findingsOf('credit', isHeld, credit, settlement)).toEqual(found)
  })

  it.each([
    ['is held and credited', true, CREDIT, NONE, []],
    ['is settled and credited', false, CREDIT, SETTLEMENT, []],
    ['is held and not credited', true, NONE, NONE, ['decided, credit: no']],
    ['is settled and was never credited', false, NONE, SETTLEMENT, ['decided, credit: no']],
    ['is credited, and neither held nor settled', false, CREDIT, NONE, ['decided, hold: no']],
    ['is settled, credited and still held', true, CREDIT, SETTLEMENT, ['decided, hold: yes']],
    ['is settled otherwise', false, CREDIT, WITHOUT_FEE, ['decided, settlement: other']],
  ])('%s, once it is decided to settle', async (_, isHeld, credit, settlement, found) => {
    expect(await findingsOf('settle', isHeld, credit, settlement)).toEqual(found)
  })
})

it('tells only what both runs have found: what is booked between their reads shows up in one of them', async () => {
  async function* payments(): AsyncGenerator<AuditedPayment> {}
  const open = (...ids: readonly string[]): Books => ({ lines: [], openHolds: ids.map((id) => ({ id, at: 0 })) })
  const reads = [open('found at first', 'found twice'), open('found twice', 'found later')]
  const found = await reconcileAll({
    openPayments: { audit: payments },
    walletAddresses: [],
    readBooks: () => reads.shift() ?? open(),
  })
  expect(found).toEqual(['found twice: held or booked for no payment'])
})

it.each([
  ['hours ago, by its clock', -4, ['still sending']],
  ['just now', 0, []],
  ['hours from now, by a clock that is wrong', 4, ['still sending']],
])('judges a payment that came into its state %s', async (_, hours, found) => {
  const { audited, now } = await standingStill('credit')
  const at = now + hours * 3_600_000
  async function* payments(): AsyncGenerator<AuditedPayment> {
    yield { ...audited, createdAt: at, states: [{ state: 'sending', at }] }
  }
  const differences = await reconcileAll({
    openPayments: { audit: payments },
    walletAddresses: [ALICE],
    readBooks: () => ({ lines: [], openHolds: [{ id: audited.holdId, at: now }] }),
    clock: { now: () => now },
  })
  expect(differences).toEqual(found.map((difference) => `${audited.id}: ${difference}`))
})
