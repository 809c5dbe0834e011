import type { Input } from '../http/endpoint.ts'
import { claimSignature } from '../http/replay-claims.ts'
import type { Result } from '../http/respond.ts'
import { amountOf } from '../protocol/amount.ts'
import { entryWindows, spendingIdsOf } from '../protocol/spending-windows.ts'
import { type Spending, type SpentAmounts, spentAmountsOf } from '../protocol/spent-amounts.ts'
import { expectSpending } from '../records/expected-reads.ts'
import { readRecords } from '../records/read-record.ts'
import type { ReadingCaller } from './identify-caller.ts'

const NOTHING: SpentAmounts = { spentDebitAmount: null, spentReceiveAmount: null }

/**
 * `get-outgoing-payment-grant`: what the token's own grant has spent in the current window of the access entry that was
 * charged last. Nulls before the first payment and while no window is current; zeros in a window without payments.
 * @spec D13 @spec LIM-10
 */
export async function getOutgoingPaymentGrant({ exchange, caller }: Input<ReadingCaller, undefined>): Promise<Result> {
  const { context } = exchange
  await claimSignature(exchange, caller.proof)
  const windows = entryWindows(caller.token, context.clock.now(), context.policies.intervalCounting)
  const ids = spendingIdsOf(windows)
  expectSpending(context, caller.token, ids)
  const stored = await readRecords(caller.readAhead, 'spending', ids)
  const find = (id: string): Spending | undefined => stored.find((record) => record.value.id === id)?.value
  const charged = windows
    .flatMap(({ windowId, lifeId }) => {
      const life = find(lifeId)
      return life?.lastCharge === undefined ? [] : [{ windowId, life, place: life.lastCharge.place }]
    })
    .sort((a, b) => b.place - a.place)[0]
  if (charged?.windowId === undefined) return { status: 200, body: NOTHING }
  return { status: 200, body: spentAmountsOf(find(charged.windowId) ?? freshWindow(charged.life)) }
}

function freshWindow(life: Spending): Spending {
  return {
    ...life,
    debit: amountOf(life.debit, 0n),
    receive: life.receive.map((amount) => ({ ...amount, value: '0' })),
  }
}
