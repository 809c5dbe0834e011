import type { Amount, Ledger, LedgerResult, SettlementResult } from 'open-payments-server'
import { type DoubleEntryLedger, memoryLedger } from 'open-payments-server/ledger/memory'
import { type LedgerUnderTest, ledgerContract } from 'open-payments-server/testing'

const done = { ok: true } as const

/** A ledger that refuses everything that may be refused. */
export const ledger: Ledger = {
  account: async () => ({ assetCode: 'EUR', assetScale: 2, canSend: true, canReceive: false }),
  hold: async (): Promise<LedgerResult> => ({ ok: false, reason: 'insufficient_funds' }),
  settle: async (): Promise<SettlementResult> => ({ ok: false, reason: 'conflict' }),
  release: async () => done,
  credit: async () => ({ ok: false, reason: 'account_closed' }),
}

/** The call that is missing. */
export function needsEveryCall(): readonly Ledger[] {
  const { credit, ...withoutCredit } = ledger
  const { hold, ...withoutHold } = { ...ledger, credit }
  return [
    // @ts-expect-error credit
    withoutCredit,
    // @ts-expect-error hold
    withoutHold,
    { ...ledger, hold },
  ]
}

/** A refusal has one of the reasons that the caller can act on. */
export function refusesWithReasons(): readonly Ledger[] {
  return [
    // @ts-expect-error a reason that nobody knows
    { ...ledger, hold: async () => ({ ok: false, reason: 'no_money' }) },
    // @ts-expect-error a refusal without a reason
    { ...ledger, hold: async () => ({ ok: false }) },
    // @ts-expect-error a settlement is never refused for lack of funds
    { ...ledger, settle: async () => ({ ok: false, reason: 'insufficient_funds' }) },
    // @ts-expect-error yes or no is not enough
    { ...ledger, release: async () => true },
    // @ts-expect-error a call is answered later
    { ...ledger, credit: () => done },
  ]
}

/** Amounts are whole numbers of the smallest unit. */
export function countsInBigints(): readonly Amount[] {
  return [
    { value: 1000n, assetCode: 'EUR', assetScale: 2 },
    // @ts-expect-error a number would be a float
    { value: 1000, assetCode: 'EUR', assetScale: 2 },
    // @ts-expect-error text is how it travels, not how it is counted
    { value: '1000', assetCode: 'EUR', assetScale: 2 },
    // @ts-expect-error an amount has a scale
    { value: 1000n, assetCode: 'EUR' },
  ]
}

/** The same in the ledgers that the package has. */
export function opensAccounts(): DoubleEntryLedger {
  // @ts-expect-error a balance is a bigint
  memoryLedger({ accounts: [{ account: 'alice', assetCode: 'EUR', assetScale: 2, balance: 100 }] })
  return memoryLedger()
}

/** A ledger is tested with what the port does not have. */
export async function testsLedgers(underTest: LedgerUnderTest): Promise<void> {
  for (const { run } of ledgerContract()) await run(async () => underTest)
  // @ts-expect-error the port alone opens no accounts
  for (const { run } of ledgerContract()) await run(async () => ledger)
}
