import type { Context } from '../../ports/context.ts'
import type { StoredRecord } from '../../ports/storage.ts'
import { readRailAccountId } from '../../protocol/rail-account.ts'
import type { Receipt } from '../../protocol/receipt.ts'
import { decide } from '../../records/decide.ts'
import { recordsOfKind } from '../../records/read-record.ts'
import { tellFault } from '../../records/tell-fault.ts'
import { askLedger, type LedgerOutcome } from '../ask-ledger.ts'
import { creditRefusedEvent, deliverEvents, eventChanges, refusalSubject } from '../notify.ts'
import { changesOfCredit } from '../replace-incoming.ts'
import type { TakenUp } from '../taken-up.ts'
import { pauseBetweenTries, TRIES_AT_ONCE } from '../tries-at-once.ts'
import { turnAtIncoming } from '../turns.ts'

/**
 * Credits the payee of money that a rail has taken, and counts it as received: in time or not, since the room for it was
 * reserved in time. A call that the ledger does not answer is left to `recover()`. A refused credit leaves the money
 * with the wallet, which is told. Resolves once the host has been told; if it is told `later`, by `tellLater`, once the
 * money has got as far as it can. Never rejects.
 */
export async function creditPayee(
  context: Context,
  receipt: Receipt,
  tells: 'at once' | 'later' = 'at once',
): Promise<void> {
  try {
    for (let tries = 1; tries <= TRIES_AT_ONCE; tries++) {
      const credited = await askCredit(context, receipt)
      if (credited.outcome !== 'unknown') {
        await endReceipt(context, receipt, credited)
        const isDone = credited.outcome === 'done'
        const tell = () => deliverEvents(context, isDone ? receipt.incomingPaymentId : refusalSubject(receipt.id))
        if (tells === 'later') context.ongoing.tellLater(tell)
        else await tell()
        return
      }
      if (tries < TRIES_AT_ONCE) await pauseBetweenTries(context)
    }
  } catch (cause) {
    tellFault(context, 'a receipt could not be credited', cause)
  }
}

async function askCredit(context: Context, receipt: Receipt): Promise<LedgerOutcome> {
  const { id, payeeAccount, railAccountId, amount } = receipt
  if (payeeAccount === undefined || railAccountId === undefined) throw new Error('a receipt has nobody to credit')
  const { method, account: address } = readRailAccountId(railAccountId)
  return askLedger(context, 'credit', id, () =>
    context.ledger.credit({ id, account: payeeAccount, amount, counterparty: { kind: 'rail', method, address } }),
  )
}

type DecidedCredit = Exclude<LedgerOutcome, { readonly outcome: 'unknown' }>

async function endReceipt(context: Context, receipt: Receipt, credited: DecidedCredit): Promise<void> {
  const { id, incomingPaymentId } = receipt
  const refusals = credited.outcome === 'done' ? [] : [creditRefusedEvent(context, receipt, credited.reason)]
  const isOurs = await context.serialize(turnAtIncoming(incomingPaymentId), () =>
    decide<boolean>(context, async () => {
      const keys = [
        { kind: 'receipt', id },
        { kind: 'incoming-payment', id: incomingPaymentId },
      ] as const
      const found = await context.storage.get(keys)
      const [record] = recordsOfKind(found, 'receipt')
      const [incoming] = recordsOfKind(found, 'incoming-payment')
      if (record === undefined || incoming === undefined) throw new Error('a receipt has vanished')
      if (record.value.state !== 'reserved') return { answer: false }
      const isCredited = credited.outcome === 'done'
      const { changes } = changesOfCredit(context, incoming, record, isCredited)
      return { changes: [...changes, ...eventChanges(context, refusals)], answer: true }
    }),
  )
  // If events are not recorded the default sink gets it, which cannot fail: somebody has to book this money by hand.
  if (isOurs && context.deliverEvent === undefined) for (const event of refusals) context.emit(event)
}

const LONGEST_PAUSE_MILLISECONDS = 3_600_000

/** Credits receipts that are due, but those that another process has taken up; answers what became of each. */
export async function recoverReceipts(
  context: Context,
  due: readonly StoredRecord<'receipt'>[],
): Promise<readonly TakenUp[]> {
  return Promise.all(
    due.map(async (record) => {
      const leased = await takeLease(context, record)
      if (leased === 'taken') await creditPayee(context, record.value, 'later')
      return leased
    }),
  )
}

/** Keeps other processes away, and this one: for a lease at first, then as long again as the receipt has waited, up to an hour. */
async function takeLease(context: Context, record: StoredRecord<'receipt'>): Promise<TakenUp> {
  const now = context.clock.now()
  const waited = Math.max(now - record.value.createdAt, context.limits.leaseSeconds * 1000)
  const dueAt = now + Math.min(waited, LONGEST_PAUSE_MILLISECONDS)
  try {
    const outcome = await context.storage.commit([{ ...record, action: 'replace', dueAt }])
    return outcome === 'committed' ? 'taken' : 'lost'
  } catch (cause) {
    // One that was not claimed must not hold up the others; if it was claimed after all, it is due again later.
    tellFault(context, 'a receipt could not be claimed', cause)
    return 'failed'
  }
}
