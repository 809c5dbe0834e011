import type { Change, OpenPaymentsOptions } from 'open-payments-server'
import { expect } from 'vitest'
import { gate } from '../support/gate.ts'
import { ALICE, BASE, grantWithConsent, usd } from '../support/test-wallet.ts'
import { turns } from '../support/turns.ts'
import type { Call, Fault } from './faulty-ports.ts'
import { checkMoney } from './money-invariants.ts'
import {
  ask,
  grantTokens,
  moneyWorld,
  type Process,
  type ProcessAnswer,
  preparePayment,
  recoverUntilQuiet,
  signedBy,
  type Tokens,
  type World,
} from './money-world.ts'

type SignedRequest = Awaited<ReturnType<typeof signedBy>>

const WIDE = { incomingAmount: usd('100000') }

/** A grant that admits 100, or has these entries, a receiver that takes as much as it is sent, and a process. */
export async function scene(overrides: Partial<OpenPaymentsOptions> = {}, entries?: readonly unknown[]) {
  const world = await moneyWorld(overrides)
  const tokens = { ...(await grantTokens(world, { debitAmount: usd('100') })) }
  if (entries !== undefined) tokens.spending = (await grantWithConsent(world.wallet, entries)).body.access_token.value
  const { incomingUrl } = await preparePayment(world, tokens, { incoming: WIDE, from: 'incoming payment' })
  const process = world.start()
  const order = (amount: string, more: Parameters<typeof signedBy>[5] = {}): Promise<SignedRequest> => {
    const json = {
      walletAddress: ALICE,
      incomingPayment: incomingUrl,
      debitAmount: usd(amount),
      metadata: { order: n++ },
    }
    return signedBy(world, 'POST', `${BASE}/outgoing-payments`, tokens.spending, json, more)
  }
  let n = 0
  return { world, tokens, incomingUrl, process, order }
}

export const isCommit = ({ name }: Call): boolean => name === 'commit'

export function changesOf({ arguments: [changes] }: Call): readonly Change[] {
  return changes as readonly Change[]
}

/** How many payments a commit creates. */
export function createdBy(call: Call): number {
  if (!isCommit(call)) return 0
  return changesOf(call).filter(({ action, kind }) => action === 'insert' && kind === 'outgoing-payment').length
}

/** How many payments each commit has created that created any. */
export function intents({ ports }: Process): readonly number[] {
  return ports.calls.map(createdBy).filter((count) => count > 0)
}

/** Begins some work and holds up the first call that is one of these; resolves once that waits for `letGo`. */
export async function holdUp<T>({ ports }: Process, isIt: (call: Call) => boolean, work: () => Promise<T>) {
  const { open, opened } = gate()
  let isHeldUp = false
  ports.plan = (call) => {
    if (isHeldUp || !isIt(call)) return undefined
    isHeldUp = true
    return opened
  }
  const held = work()
  await expect.poll(() => isHeldUp).toBe(true)
  return { held, letGo: open }
}

/** Gives an order of 1, and these others while its commit is under way, so that they wait for their turn together. */
export async function lineUp(process: Process, first: SignedRequest, others: readonly SignedRequest[]) {
  const { held, letGo } = await holdUp(
    process,
    (call) => createdBy(call) > 0,
    () => ask(process, first),
  )
  const answers = [held]
  for (const other of others) {
    answers.push(ask(process, other))
    await turns(20)
  }
  return { answers, letGo }
}

/** Has them wait for their turn together, and answers what they are answered. `then` decides about calls from then on. */
export async function giveTogether(
  process: Process,
  first: SignedRequest,
  others: readonly SignedRequest[],
  then: (call: Call) => Fault | undefined | Promise<Fault | undefined> = () => undefined,
): Promise<readonly (ProcessAnswer | undefined)[]> {
  const { answers, letGo } = await lineUp(process, first, others)
  process.ports.plan = then
  letGo()
  const all = await Promise.all(answers)
  await Promise.race([process.openPayments.drain(), process.ports.crashed])
  return all
}

export async function end(world: World): Promise<void> {
  await recoverUntilQuiet(world)
  await checkMoney(world)
}

export async function spentBy(world: World): Promise<bigint | undefined> {
  const [spending] = await world.storage.all('spending')
  return spending?.value.debit.value
}

export const statuses = (answers: readonly (ProcessAnswer | undefined)[]) => answers.map((answer) => answer?.status)

/** What the grant has spent with a payment, as its answer tells. */
export function spentWith(answer: ProcessAnswer | undefined): unknown {
  return Reflect.get(Reflect.get(Object(answer?.body), 'grantSpentDebitAmount'), 'value')
}

/** A quote of this amount for the receiver. */
export async function quoteOf(world: World, tokens: Tokens, receiver: string, amount: string): Promise<string> {
  return (await preparePayment(world, tokens, { receiver, amount })).quoteUrl
}

export function isReadOf(kind: string, { name, arguments: [keys] }: Call): boolean {
  return name === 'get' && (keys as readonly { readonly kind: string }[]).some((key) => key.kind === kind)
}

/** What the payments that a commit creates take. */
export function debits(call: Call): readonly bigint[] {
  return changesOf(call).flatMap((change) =>
    change.action === 'insert' && change.kind === 'outgoing-payment' ? [change.value.debitAmount.value] : [],
  )
}

export function amountOf({ arguments: [request] }: Call): bigint {
  return (request as { readonly amount: { readonly value: bigint } }).amount.value
}

/** The kinds that each read of a process has read since this was last asked, without its events. */
export function reading({ ports }: Process) {
  let seen = 0
  return (): readonly string[] => {
    const calls = ports.calls.slice(seen)
    seen = ports.calls.length
    const reads = calls.filter((call) => call.name === 'get' && !isReadOf('event', call))
    return reads.map(kindsOf)
  }
}

function kindsOf({ arguments: [keys] }: Call): string {
  return (keys as readonly { readonly kind: string }[]).map(({ kind }) => kind).join(' ')
}

/** Asks a process and waits for the end of what goes on after its answer. */
export async function answered(process: Process, request: Parameters<typeof ask>[1]): Promise<ProcessAnswer> {
  const answer = await ask(process, request)
  await process.openPayments.drain()
  if (answer === undefined) throw new Error('the process has ended')
  return answer
}
