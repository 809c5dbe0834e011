import type { Amount, AuditedPayment, Credit, Hold, Ledger, WireAmount } from '../../src/index.ts'
import { readRailAccountId } from '../../src/protocol/rail-account.ts'
import { type PaymentSource, requireLedger, requireSource, SOURCE } from './options.ts'
import { type Received, requireReceived } from './received.ts'
import { settledOf } from './settled.ts'

/** What `tellLedger` needs. `walletAddresses`: all that have ever paid. */
export interface TellLedgerOptions extends PaymentSource {
  /** The ledger that is behind: the very one that the library is given. */
  readonly ledger: Ledger
}

/**
 * The hold and the credit of a payment, with the very arguments that the library gives the ledger. There is no credit for a
 * receiver at another wallet. Throws an `Error` if the payment names no payee.
 */
export function callsOf(payment: Omit<AuditedPayment, 'grant' | 'signedRequest'>): {
  readonly hold: Hold
  readonly credit?: Credit
} {
  const { holdId, creditId, account, payeeAccount, debitAmount, receiveAmount, receiver, rail } = payment
  const hold = { id: holdId, account, amount: amountFromWire(debitAmount) }
  if (rail !== undefined) {
    const { method, address, walletAddress } = rail
    const payee = walletAddress === undefined ? {} : { walletAddress }
    return { hold: { ...hold, counterparty: { kind: 'rail', method, address, ...payee } } }
  }
  if (payeeAccount === undefined || creditId === undefined) throw new Error(`${holdId} has no payee`)
  const incomingPayment = receiver.split('/').at(-1) ?? ''
  const credit = { id: creditId, account: payeeAccount, amount: amountFromWire(receiveAmount) }
  return {
    hold: { ...hold, counterparty: { kind: 'local', account: payeeAccount, incomingPayment } },
    credit: { ...credit, counterparty: { kind: 'local', account, incomingPayment } },
  }
}

/**
 * Tells a ledger that is behind what the storage knows: makes every call again whose outcome is known, with the same id and
 * arguments. What the ledger has booked already does not move again, so it may be repeated. Before `recover()`; while no
 * process is serving.
 *
 * Resolves with what the ledger did not take: `credit <id>: <reason>`, `settle <id>: <reason>`, and `hold <id> (charge
 * <amount>): <reason>` for what the payer is to be charged by hand, in the smallest unit, or `hold <id> (sending): <reason>` for
 * a payment that would be paid without a hold. `[]`: it has taken everything.
 *
 * Rejects with a `ConfigurationError` if an option is not valid, and with the error of whatever cannot be read, before any call;
 * with the error of a call, after which it is to be repeated.
 */
export async function tellLedger(options: TellLedgerOptions): Promise<readonly string[]> {
  requireSource('tellLedger', options, [...SOURCE, 'ledger'])
  const { ledger, readReceived } = options
  requireLedger('tellLedger', ledger)
  const received = await requireReceived(readReceived)
  const payments = await readPayments(options)
  const refused: string[] = []
  const ask = async (what: string, call: ReturnType<Ledger['hold']>): Promise<void> => {
    const answer = await call
    if (!answer.ok) refused.push(`${what}: ${answer.reason}`)
  }
  // Credits first: then every payer has what came in, in whatever order it came.
  for (const receipt of received) {
    if (receipt.state === 'credited') await ask(`credit ${receipt.id}`, ledger.credit(creditOf(receipt)))
  }
  for (const { state, isLost, credit } of payments) {
    const isPaid = state === 'completed' || (state === 'decided' && !isLost)
    if (isPaid && credit !== undefined) await ask(`credit ${credit.id}`, ledger.credit(credit))
  }
  for (const { state, hold, debit, fee } of payments) {
    const { id, amount } = hold
    if (state === 'failed' && debit === 0n)
      await ledger.release({ id }) // a conflict: it was not held
    else if (state !== 'created') {
      // What is `sending` has paid nobody, or not all; of the others it is known what they cost.
      const toDo = state === 'sending' ? state : `charge ${debit}`
      await ask(`hold ${id} (${toDo})`, ledger.hold(hold))
    }
    const isSettled = state === 'completed' || (state === 'failed' && debit > 0n)
    if (isSettled)
      await ask(
        `settle ${id}`,
        ledger.settle({ id, amount: { ...amount, value: debit }, fee: { ...amount, value: fee } }),
      )
  }
  return refused
}

/** What of a payment is told: its proof, which is most of it, is not. */
interface ToldPayment extends ReturnType<typeof callsOf>, ReturnType<typeof settledOf> {
  readonly state: AuditedPayment['state']
  readonly createdAt: number
  /** Whether it has failed, or is about to. */
  readonly isLost: boolean
}

/** The oldest first: what an earlier payment has given back may be what a later one was paid with. */
async function readPayments({ openPayments, walletAddresses }: PaymentSource): Promise<readonly ToldPayment[]> {
  const payments: ToldPayment[] = []
  for (const walletAddress of new Set(walletAddresses)) {
    for await (const payment of openPayments.audit(walletAddress)) {
      const { state, createdAt, failureReason } = payment
      const isLost = failureReason !== undefined
      payments.push({ ...callsOf(payment), ...settledOf(payment), state, createdAt, isLost })
    }
  }
  return payments.sort((a, b) => a.createdAt - b.createdAt)
}

function creditOf({ id, payeeAccount, amount, railAccount }: Received): Credit {
  const { method, account: address } = readRailAccountId(railAccount)
  return { id, account: payeeAccount, amount: amountFromWire(amount), counterparty: { kind: 'rail', method, address } }
}

function amountFromWire({ value, assetCode, assetScale }: WireAmount): Amount {
  return { value: BigInt(value), assetCode, assetScale }
}
