import { unexpected } from '../errors/conditions.ts'
import type { Context } from '../ports/context.ts'
import type { LedgerAccount, LedgerRefusal, LedgerResult } from '../ports/ledger.ts'
import type { WalletAddress } from '../ports/wallet-addresses.ts'
import { isSameAsset, mistakeInAsset } from '../protocol/amount.ts'
import { type LedgerCall, tellFault } from '../records/tell-fault.ts'
import { answerBeforeDeadline, askHostInTime } from './answer-deadline.ts'

/**
 * The outcome of a ledger call. `unknown`: it threw, did not answer in time, gave an answer that the port does not
 * define, or answered `conflict`, which is a fault because the arguments were committed before the call; `reason` says
 * which. After an unknown outcome the ledger is asked again; the outcome is never guessed.
 */
export type LedgerOutcome =
  | { readonly outcome: 'done' }
  | { readonly outcome: 'refused'; readonly reason: LedgerRefusal }
  | { readonly outcome: 'unknown'; readonly reason: string }

/**
 * Calls the ledger under a deadline. Never rejects; a failure is reported as an event that names the call and its id.
 * If an earlier try of the same call is answered only now, that is the answer: so even a ledger that misses every
 * deadline gets payments decided.
 */
export async function askLedger(
  context: Context,
  name: Exclude<LedgerCall['call'], 'account'>,
  id: string,
  call: () => Promise<LedgerResult>,
): Promise<LedgerOutcome> {
  const about: LedgerCall = { call: name, callId: id }
  const key = `${name} ${id}`
  try {
    const answer = await answerBeforeDeadline(context, async () => {
      const begun = Promise.resolve(call()) // in JavaScript a ledger may answer with a plain value
      const earlier = context.lateAnswers.expect(key, begun)
      return Promise.race([...earlier.map(untilAnswered), begun])
    })
    if (answer !== 'late') context.lateAnswers.forget(key)
    return readAnswer(context, answer, about)
  } catch (cause) {
    const { outcome, reason } = unknownOutcome(context, 'the ledger failed', cause, about)
    const words = cause instanceof Error ? cause.message : ''
    return { outcome, reason: words === '' ? reason : `${reason}: ${words}` }
  }
}

async function untilAnswered(call: Promise<LedgerResult>): Promise<LedgerResult> {
  return call.catch(() => new Promise(() => undefined))
}

/** Only answers that the port defines count: after any other answer it is unknown whether money has moved. */
function readAnswer(context: Context, answer: LedgerResult | 'late', about: LedgerCall): LedgerOutcome {
  if (answer === 'late') return unknownOutcome(context, 'the ledger did not answer in time', undefined, about)
  if (answer?.ok === true) return { outcome: 'done' }
  if (answer?.ok !== false) return invalidAnswer(context, answer, about)
  switch (answer.reason) {
    case 'insufficient_funds':
    case 'account_closed':
    case 'not_allowed':
      return { outcome: 'refused', reason: answer.reason }
    case 'conflict':
      return unknownOutcome(context, 'the ledger answered "conflict"', answer, about)
    default:
      return invalidAnswer(context, answer, about)
  }
}

function invalidAnswer(context: Context, answer: unknown, about: LedgerCall): LedgerOutcome {
  const words = `${about.call} must answer { ok: true }, or { ok: false, reason } with a reason that it may give`
  return unknownOutcome(context, 'the ledger gave an invalid answer', new TypeError(words, { cause: answer }), about)
}

function unknownOutcome(
  context: Context,
  message: string,
  cause: unknown,
  about: LedgerCall,
): Extract<LedgerOutcome, { readonly outcome: 'unknown' }> {
  tellFault(context, message, cause, about)
  return { outcome: 'unknown', reason: message }
}

/**
 * Whether the ledger has the account of a wallet address and, if `right` is given, lets it send or receive; read under
 * the same deadline. `wrong_asset`: the ledger keeps the account in another asset than the directory says, so no amount
 * would mean what it seems to. That is reported as an event, and so is an account that the ledger does not have. Throws
 * "unavailable" if the ledger does not answer, and "unexpected" (with an event that names the mistake) if its answer is
 * not a valid account.
 */
export async function checkLedgerAccount(
  context: Context,
  walletAddress: string,
  { account, assetCode, assetScale }: WalletAddress,
  right?: 'canSend' | 'canReceive',
): Promise<'allowed' | 'not_allowed' | 'wrong_asset'> {
  const about: LedgerCall = { call: 'account', callId: account }
  const kept = await askHostInTime(context, 'the ledger', () => context.ledger.account(account), about)
  if (kept === undefined || kept === null) {
    const cause = new Error(`account "${account}" of ${walletAddress} is not in the ledger`)
    tellFault(context, 'the directory names an account that the ledger does not have', cause, about)
    return 'not_allowed'
  }
  const mistake = mistakeInLedgerAccount(kept)
  if (mistake !== undefined) {
    tellFault(context, 'the ledger gave an invalid answer', new TypeError(`account('${account}'): ${mistake}`), about)
    throw unexpected()
  }
  if (right !== undefined && !kept[right]) return 'not_allowed'
  if (isSameAsset(kept, { assetCode, assetScale })) return 'allowed'
  const sides = `${assetCode} of scale ${assetScale} in the directory, ${kept.assetCode} of scale ${kept.assetScale}`
  const cause = new Error(`account "${account}": ${sides} in the ledger`)
  tellFault(context, 'the directory and the ledger give an account different assets', cause, about)
  return 'wrong_asset'
}

/** What is wrong with an account that a ledger in plain JavaScript returned, if anything. */
function mistakeInLedgerAccount(kept: LedgerAccount): string | undefined {
  if (typeof kept !== 'object') return 'is not an object'
  // A missing member must not be taken for a refusal.
  const isClear = typeof kept.canSend === 'boolean' && typeof kept.canReceive === 'boolean'
  return isClear ? mistakeInAsset(kept) : 'canSend and canReceive must be true or false'
}
