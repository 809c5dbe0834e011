import type { AuditedPayment, Credit, Hold, Ledger, Settlement } from 'open-payments-server'
import { type BookedLine, type Received, reconcileAll, tellLedger } from 'open-payments-server/reconciliation'
import { describe, expect, it } from 'vitest'
import { ALICE, testLedger, testWallet, usd, usdAmount } from '../support/test-wallet.ts'
import { payTenDollars, RECEIPT as RECEIPT_AT_MIDNIGHT } from './one-day.ts'

const MINUTE = 60_000
const RECEIPT: Received = { ...RECEIPT_AT_MIDNIGHT, createdAt: 0 }
const LOST = { failureReason: 'expired' } as const

type Sums = Readonly<Record<string, bigint>>
type Told = Partial<Pick<AuditedPayment, 'state' | 'failureReason' | 'states'>>

/** A payment of 10.00 within the wallet, of which 0.10 are the fee. */
async function onePayment(): Promise<AuditedPayment> {
  const wallet = await testWallet({ pricing: { price: async () => ({ rate: '1', fee: { basisPoints: 100 } }) } })
  await payTenDollars(wallet)
  for await (const audited of wallet.openPayments.audit(ALICE)) return audited
  throw new Error('there is no payment')
}

/** The same payment to another wallet, to which 3.33 of the 9.90 have gone. */
function inParts({ payeeAccount, creditId, ...audited }: AuditedPayment): AuditedPayment {
  const sent = { sent: usd('333'), received: usd('333'), inFlightSent: usd('0'), inFlightReceived: usd('0') }
  const rail = { method: 'ilp', account: 'test.peer/USD/2', address: 'test.peer.bob', sendAmount: usd('990'), ...sent }
  return { ...audited, rail }
}

const NONE = {}
const CREDIT = { bob: 990n, 'clearing:USD:2': -990n }
const SETTLEMENT = { alice: -1000n, 'fees:USD:2': 10n, 'clearing:USD:2': 990n }
/** Two lines that cancel each other out: settled, and booked back by hand under the same id. */
const BACK = { alice: 0n }

describe('what is found of a payment', () => {
  const findingsOf = async (payment: AuditedPayment, isHeld: boolean, credit: Sums, settlement: Sums) => {
    const { id, holdId, creditId = '' } = payment
    const now = (payment.states.at(-1)?.at ?? payment.createdAt) + 15 * MINUTE
    const linesOf = (of: string, sums: Sums): BookedLine[] =>
      Object.entries(sums).map(([account, amount]) => ({ id: of, account, amount, at: now }))
    const found = await reconcileAll({
      openPayments: {
        audit: async function* () {
          yield payment
        },
      },
      // Twice, and told once.
      walletAddresses: [ALICE, ALICE],
      readBooks: () => ({
        lines: [...linesOf(creditId, credit), ...linesOf(holdId, settlement)],
        openHolds: isHeld ? [{ id: holdId, at: now }] : [],
      }),
      clock: { now: () => now },
    })
    return found.map((difference) => difference.replace(`${id}: `, ''))
  }

  it.each<[string, Told, boolean, Sums, Sums, readonly string[]]>([
    ['created', { state: 'created' }, false, NONE, NONE, ['still created']],
    ['created and held', { state: 'created' }, true, NONE, NONE, ['still created']],
    ['created and credited', { state: 'created' }, true, CREDIT, NONE, ['still created', 'created, credit: yes']],
    ['completed and still held', { state: 'completed' }, true, CREDIT, SETTLEMENT, ['completed, hold: yes']],
    ['failed and still held', { state: 'failed', ...LOST }, true, NONE, NONE, ['failed, hold: yes']],
    ['failed and credited', { state: 'failed', ...LOST }, false, CREDIT, NONE, ['failed, credit: yes']],
    ['failed and settled', { state: 'failed', ...LOST }, false, NONE, SETTLEMENT, ['failed, settlement: other']],
    ['failed and booked back', { state: 'failed', ...LOST }, false, NONE, BACK, ['failed, settlement: yes']],
    ['lost', { state: 'decided', ...LOST }, true, NONE, NONE, ['still decided']],
    ['lost and held no more', { state: 'decided', ...LOST }, false, NONE, NONE, ['still decided']],
    ['lost and credited', { state: 'decided', ...LOST }, true, CREDIT, NONE, ['still decided', 'decided, credit: yes']],
    [
      'lost and booked back',
      { state: 'decided', ...LOST },
      true,
      NONE,
      BACK,
      ['still decided', 'decided, settlement: yes'],
    ],
  ])('that is %s', async (_, told, isHeld, credit, settlement, found) => {
    const payment = { ...(await onePayment()), ...told }
    expect(await findingsOf(payment, isHeld, credit, settlement)).toEqual(found)
  })

  it.each<[string, boolean, Sums, readonly string[]]>([
    ['settled', false, { alice: -337n, 'fees:USD:2': 4n, 'clearing:USD:2': 333n }, []],
    ['not settled', false, NONE, ['failed, settlement: no']],
    ['still held', true, { alice: -337n, 'fees:USD:2': 4n, 'clearing:USD:2': 333n }, ['failed, hold: yes']],
  ])('of which a part has gone to another wallet, and that is %s', async (_, isHeld, settlement, found) => {
    const payment: AuditedPayment = { ...inParts(await onePayment()), state: 'failed', ...LOST }
    expect(await findingsOf(payment, isHeld, NONE, settlement)).toEqual(found)
  })

  it('that was ordered long ago and has moved on within a quarter of an hour is nothing yet', async () => {
    const payment = await onePayment()
    const at = payment.createdAt + 60 * MINUTE
    const moved = { ...payment, states: [...payment.states, { state: 'completed', at: at + 1 }] } as const
    const found = await reconcileAll({
      openPayments: {
        audit: async function* () {
          yield moved
        },
      },
      walletAddresses: [ALICE],
      readBooks: () => ({ lines: [], openHolds: [] }),
      clock: { now: () => at + 15 * MINUTE },
    })
    expect(found).toEqual([])
  })
})

describe('what is found of a receipt', () => {
  const findingsOf = async (state: Received['state'], credited: bigint, age: number, noted: readonly string[]) => {
    const at = Date.parse('2026-11-21')
    const lines = Object.entries({ bob: credited, 'clearing:USD:2': -credited }).map(([account, amount]) => ({
      ...{ id: RECEIPT.id, account, amount },
      at,
    }))
    const found = await reconcileAll({
      openPayments: { audit: async function* () {} },
      walletAddresses: [],
      readReceived: () => [{ ...RECEIPT, state, createdAt: at }],
      readBooks: () => ({ lines: credited === 0n ? [] : lines, openHolds: [] }),
      noted,
      clock: { now: () => at + age },
    })
    return found.map((difference) => difference.replace(`${RECEIPT.id}: `, ''))
  }
  const AGE = 15 * MINUTE
  const NOTED = [RECEIPT.id]

  it.each<[string, Received['state'], bigint, number, readonly string[], readonly string[]]>([
    ['reserved, and not old yet', 'reserved', 0n, AGE - 1, [], []],
    ['reserved and not credited', 'reserved', 0n, AGE, [], ['still reserved']],
    ['reserved and credited', 'reserved', 5n, AGE, [], ['still reserved']],
    ['reserved, whoever has noted it', 'reserved', 0n, AGE, NOTED, ['still reserved']],
    ['reserved and credited otherwise', 'reserved', 6n, AGE, [], ['still reserved', 'reserved, credit: other']],
    ['refused and credited', 'dropped', 5n, AGE, NOTED, ['dropped, credit: yes']],
    ['refused and made good', 'dropped', 0n, AGE, NOTED, []],
  ])('that is %s', async (_, state, credited, age, noted, found) => {
    expect(await findingsOf(state, credited, age, noted)).toEqual(found)
  })
})

describe('a ledger that is behind is told', () => {
  /** Which calls a ledger gets that knows nothing. */
  const callsFor = async (payments: readonly AuditedPayment[], received: readonly Received[]) => {
    const calls: string[] = []
    const settlements: Settlement[] = []
    const note =
      (name: string) =>
      async ({ id }: Pick<Hold | Credit, 'id'>) => {
        calls.push(`${name} ${id}`)
        return { ok: true } as const
      }
    const ledger: Ledger = {
      account: async () => undefined,
      hold: note('hold'),
      credit: note('credit'),
      release: note('release'),
      settle: async (settlement) => {
        settlements.push(settlement)
        return note('settle')(settlement)
      },
    }
    const told = await tellLedger({
      openPayments: {
        audit: async function* () {
          yield* payments
        },
      },
      // Twice, and told once.
      walletAddresses: [ALICE, ALICE],
      readReceived: () => received,
      ledger,
    })
    expect(told).toEqual([])
    return { calls, settlements }
  }

  it('of what came from other wallets only what was credited: not what waits, and not what it has refused', async () => {
    const received = (['reserved', 'credited', 'dropped'] as const).map((state) => ({ ...RECEIPT, id: state, state }))
    expect((await callsFor([], received)).calls).toEqual(['credit credited'])
  })

  it.each<[string, Told, readonly string[]]>([
    ['is completed', { state: 'completed' }, ['credit', 'hold', 'settle']],
    ['is decided', { state: 'decided' }, ['credit', 'hold']],
    ['is lost, and not yet released', { state: 'decided', ...LOST }, ['hold']],
    ['has failed', { state: 'failed', ...LOST }, ['release']],
    ['is being sent', { state: 'sending' }, ['hold']],
    ['may have been refused', { state: 'created' }, []],
  ])('of a payment that %s no more than its outcome', async (_, told, expected) => {
    const payment = { ...(await onePayment()), ...told }
    const { calls } = await callsFor([payment], [])
    const { holdId, creditId } = payment
    expect(calls).toEqual(expected.map((name) => `${name} ${name === 'credit' ? creditId : holdId}`))
  })

  it.each([
    ['is being sent', 'sending', 'sending'],
    ['is decided', 'decided', 'charge 1000'],
  ] as const)(
    'and what it refuses to hold of a payment that %s is told, with what is to be done',
    async (_, state, toDo) => {
      const payment = { ...(await onePayment()), state }
      const openPayments = {
        audit: async function* () {
          yield payment
        },
      }
      const ledger: Ledger = { ...testLedger(), hold: async () => ({ ok: false, reason: 'not_allowed' }) }
      const told = await tellLedger({ openPayments, walletAddresses: [ALICE], ledger })
      expect(told).toEqual([`hold ${payment.holdId} (${toDo}): not_allowed`])
    },
  )

  it('what a settlement takes, and what of it is the fee', async () => {
    const payment = await onePayment()
    const part: AuditedPayment = { ...inParts(payment), state: 'failed', ...LOST }
    const settledOf = async (of: AuditedPayment) => (await callsFor([of], [])).settlements
    const { holdId: id } = payment
    expect(await settledOf(payment)).toEqual([{ id, amount: usdAmount(1000n), fee: usdAmount(10n) }])
    expect(await settledOf(part)).toEqual([{ id, amount: usdAmount(337n), fee: usdAmount(4n) }])
  })
})
