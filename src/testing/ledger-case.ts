import type { Counterparty, Credit, Hold, Ledger, LedgerResult, Settlement } from '../ports/ledger.ts'
import { type Asset, amountOf } from '../protocol/amount.ts'
import { AssertionError, assertSame } from './assertions.ts'

/** A ledger and what its cases need of the wallet around it. */
export interface LedgerUnderTest {
  readonly ledger: Ledger
  /** Opens an account that may send and receive, with a balance in the smallest unit of its asset. */
  openAccount(account: string, asset: Asset, balance: bigint): Promise<void>
  /** Closes an account for sending and receiving, or opens it again for both. */
  setClosed(account: string, isClosed: boolean): Promise<void>
  /** What an account may spend: its balance without what is held. */
  available(account: string): Promise<bigint>
  /** What the wallet has kept as fees in an asset; 0 if there were none. */
  fees(asset: Asset): Promise<bigint>
  /**
   * The sum over the accounts of an asset: customers (what is held of their money included), fees, and clearing, which may
   * be below zero. If your books have an account that opening balances come from, leave it out: the sum is theirs.
   */
  total(asset: Asset): Promise<bigint>
  /** Lets an account send, receive, both or neither. Optional: the cases that need it are to be skipped without it. */
  setPermissions?(
    account: string,
    permissions: { readonly canSend: boolean; readonly canReceive: boolean },
  ): Promise<void>
  /**
   * Makes the database of the ledger fail once, at its next commit: with an error instead of the commit, of which nothing
   * stays, or with one after it, as when the connection is lost before the answer. So many commits as `skip` says (0 if it
   * is not given) come through before that one, in whatever calls they are; what was asked for before and has not happened
   * yet is forgotten. The error is the driver's own, of a lost connection or a timeout. The call that meets it must reject,
   * and not refuse; a flag and a number in the function that runs the ledger's transactions are enough, one of each for all
   * the ledgers that are called `inTurns`. Optional: the cases that need it are to be skipped without it.
   */
  failNext?(moment: 'before commit' | 'after commit', skip?: number): void | Promise<void>
}

/** One promise of the `Ledger` port. */
export interface LedgerCase {
  readonly name: string
  /**
   * The optional member of `LedgerUnderTest` that this case is about, if there is one. Without it `run` looks at nothing
   * and resolves, so let your runner skip the case.
   */
  readonly needs?: 'failNext' | 'setPermissions'
  /**
   * Rejects with an `Error` that says what was expected and what came if the ledger breaks the promise, and with the
   * ledger's own error if a call rejects that must be answered. `makeLedger` is called once.
   */
  run(makeLedger: () => Promise<LedgerUnderTest>): Promise<void>
}

/** The asset of alice, bob and carol. */
export const USD: Asset = { assetCode: 'USD', assetScale: 2 }

/** The same code in another scale: another asset. */
export const FINER_USD: Asset = { assetCode: 'USD', assetScale: 6 }

/** Another asset. */
export const EUR: Asset = { assetCode: 'EUR', assetScale: 2 }

/** A receiver on this server. */
export const LOCAL = { kind: 'local', account: 'bob', incomingPayment: 'incoming' } as const satisfies Counterparty

/** A receiver elsewhere. */
export const RAIL = { kind: 'rail', method: 'ilp', address: 'g.other.bob' } as const satisfies Counterparty

/** The id of a numbered call. */
export function idOf(number: number): string {
  return number.toString(16).padStart(32, '0')
}

/** A hold on alice's account. */
export function holdOf(number: number, value: bigint, members: Partial<Hold> = {}): Hold {
  return { id: idOf(number), account: 'alice', amount: amountOf(USD, value), counterparty: LOCAL, ...members }
}

/** A credit of bob's account. */
export function creditOf(number: number, value: bigint, members: Partial<Credit> = {}): Credit {
  const from: Counterparty = { kind: 'local', account: 'alice', incomingPayment: 'incoming' }
  return { id: idOf(number), account: 'bob', amount: amountOf(USD, value), counterparty: from, ...members }
}

/** A settlement of a numbered hold. */
export function settlementOf(number: number, value: bigint, fee = 0n): Settlement {
  return { id: idOf(number), amount: amountOf(USD, value), fee: amountOf(USD, fee) }
}

/** A wallet in which alice has 1000, bob 500 and carol 100 of one asset. */
export async function makeWallet(makeLedger: () => Promise<LedgerUnderTest>): Promise<LedgerUnderTest> {
  const wallet = await makeLedger()
  await wallet.openAccount('alice', USD, 1000n)
  await wallet.openAccount('bob', USD, 500n)
  await wallet.openAccount('carol', USD, 100n)
  return wallet
}

/** Rejects unless a call succeeds. */
export async function mustSucceed(answer: Promise<LedgerResult>, what: string): Promise<void> {
  assertSame(await answer, { ok: true }, what)
}

/** Rejects unless a call is refused for a reason. */
export async function mustRefuse(
  answer: Promise<LedgerResult>,
  reason: Extract<LedgerResult, { ok: false }>['reason'],
  what: string,
): Promise<void> {
  assertSame(await answer, { ok: false, reason }, what)
}

/** How often the same call is made at the same time. */
export const FIFTY = 50

/** Makes a call so many times at once; rejects unless every one of them gets the expected answer. */
export async function mustAgree(
  times: number,
  call: () => Promise<LedgerResult>,
  expected: LedgerResult,
  what: string,
): Promise<void> {
  const answers = await Promise.all(Array.from({ length: times }, call))
  for (const answer of answers) assertSame(answer, expected, what)
}

/** Whether a call that the library never makes succeeds; it may be refused or reject. */
export async function succeeds(answer: Promise<LedgerResult>): Promise<boolean> {
  return answer.then(
    ({ ok }) => ok,
    () => false,
  )
}

/** For calls that the library never makes: a ledger may refuse or reject, but must do nothing. */
export async function mustNotSucceed(answer: Promise<LedgerResult>, what: string): Promise<void> {
  if (await succeeds(answer)) throw new AssertionError(`${what}: expected a refusal, got {"ok":true}`)
}

/** Rejects unless alice and bob may spend just that at a point of the case, such as "after the release". */
export async function assertAvailable(wallet: LedgerUnderTest, when: string, alice: bigint, bob = 500n): Promise<void> {
  const available = [await wallet.available('alice'), await wallet.available('bob')]
  assertSame(available, [alice, bob], `available to alice and bob ${when}`)
}
