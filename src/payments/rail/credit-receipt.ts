import type { Context } from '../../ports/context.ts'
import type { Change, StoredRecord } from '../../ports/storage.ts'
import { readRailAccountId } from '../../protocol/rail-account.ts'
import type { Receipt } from '../../protocol/receipt.ts'
import { decide } from '../../records/decide.ts'
import { tellFault } from '../../records/tell-fault.ts'
import type { TakenUp } from '../../records/try-commit.ts'
import { askLedger, type LedgerOutcome } from '../ask-ledger.ts'
import { createClaims } from '../claims.ts'
import { changesOfCredit } from '../incoming-changes.ts'
import type { LedgerWaits } from '../ledger-waits.ts'
import { creditRefusedEvent, deliverEvents, eventChanges, refusalSubject } from '../money-events.ts'
import { readReceipts } from '../read-receipts.ts'
import { pauseBetweenTries, TRIES_AT_ONCE } from '../tries-at-once.ts'
import { turnAtIncoming } from '../turn-keys.ts'

/**
 * Credits the payee of money that a rail has taken, and counts it as received, even after the incoming payment has
 * expired: its room was reserved in time. A call that the ledger does not answer is left to `recover()`. If the credit
 * is refused, the money stays with the wallet, which is told. Resolves once the host has received its events, or with
 * `later` (events are delivered by `tellLater`) once the money has got as far as it can now. Never rejects.
 */
export async function creditPayee(
  context: Context,
  receipt: Receipt,
  tells: 'at once' | 'later' = 'at once',
): Promise<void> {
  try {
    let credited = await askCredit(context, receipt)
    for (let tries = 1; credited.outcome === 'unknown'; tries++) {
      if (tries === TRIES_AT_ONCE) return
      await pauseBetweenTries(context)
      credited = await askCredit(context, receipt)
    }
    const subject = await endReceipt(context, receipt, credited)
    if (subject === undefined) return
    const tell = () => deliverEvents(context, subject)
    if (tells === 'later') context.ongoing.tellLater(tell)
    else await tell()
  } catch (cause) {
    tellFault(context, 'a receipt could not be credited', cause)
  }
}

async function askCredit(context: Context, receipt: Receipt): Promise<LedgerOutcome> {
  const { id, payeeAccount, railAccountId, amount } = receipt
  if (payeeAccount === undefined || railAccountId === undefined) throw new Error('a receipt has nobody to credit')
  const { method, account: address } = readRailAccountId(railAccountId)
  return askLedger(context, 'credit', id, () =>
    context.ledger.credit({
      id,
      account: payeeAccount,
      // A copy: what the ledger writes into it must not become the receipt's own amount.
      amount: { ...amount },
      counterparty: { kind: 'rail', method, address },
    }),
  )
}

type DecidedCredit = Exclude<LedgerOutcome, { readonly outcome: 'unknown' }>

/** Records the ledger's answer. Returns the subject of the event that this recorded, if any. */
async function endReceipt(context: Context, receipt: Receipt, credited: DecidedCredit): Promise<string | undefined> {
  const { id, incomingPaymentId } = receipt
  const refusals = credited.outcome === 'done' ? [] : [creditRefusedEvent(context, receipt, credited.reason)]
  const subject = await context.inTurn(turnAtIncoming(incomingPaymentId), () =>
    decide<string | undefined>(context, async () => {
      const {
        incoming,
        receipts: [record],
      } = await readReceipts(context, incomingPaymentId, id)
      if (record === undefined || incoming === undefined) throw new Error('a receipt has vanished')
      if (record.value.state !== 'reserved') return { answer: undefined }
      const isCredited = credited.outcome === 'done'
      const { changes, completes } = changesOfCredit(context, incoming, record, isCredited)
      const answer = isCredited ? completes : refusalSubject(id)
      return { changes: [...changes, ...eventChanges(context, refusals)], answer }
    }),
  )
  // If the host does not listen, the default sink gets the event, which cannot fail: somebody has to book this money by
  // hand.
  if (subject !== undefined && context.deliverEvent === undefined) for (const event of refusals) context.emit(event)
  return subject
}

const LONGEST_PAUSE_MILLISECONDS = 3_600_000

/**
 * Credits receipts that are due, except those that another process has taken up, and waits for the ledger no longer than
 * `waits` does. Returns what became of each.
 */
export async function creditReceipts(
  context: Context,
  waits: LedgerWaits,
  due: readonly StoredRecord<'receipt'>[],
): Promise<readonly TakenUp[]> {
  const claim = createClaims(context)
  return Promise.all(
    due.map(async (record): Promise<TakenUp> => {
      const write = await claim(
        () => ({ ...record, action: 'replace', dueAt: claimedUntil(context, record.value) }) satisfies Change,
      )
      if (typeof write === 'string') return write
      await waits.wait(() => record.value.payeeAccount ?? '', creditPayee(context, record.value, 'later'))
      return 'taken'
    }),
  )
}

/**
 * Until when a receipt is claimed, so that neither this process nor another takes it up again: for a lease at first, then for
 * as long again as the receipt has waited, up to an hour.
 */
function claimedUntil({ clock, limits }: Context, { createdAt }: Receipt): number {
  const now = clock.now()
  const waited = Math.max(now - createdAt, limits.leaseSeconds * 1000)
  return now + Math.min(waited, LONGEST_PAUSE_MILLISECONDS)
}
