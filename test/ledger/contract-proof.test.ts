import { describe, expect, it } from 'vitest'
import { type DoubleEntryLedger, memoryLedger } from '../../adapters/ledger/memory.ts'
import type { Ledger } from '../../src/ports/ledger.ts'
import { AssertionError } from '../../src/testing/assertions.ts'
import { inTurns } from '../../src/testing/in-turns.ts'
import { ledgerContract } from '../../src/testing/ledger-contract.ts'
import { failingCalls, nextFailure } from '../support/next-failure.ts'
import { turns } from '../support/turns.ts'
import type { BrokenLedger } from './contract-broken.ts'
import { BROKEN_CREDITS, BROKEN_ENDS } from './contract-broken-ends.ts'
import { BROKEN_COMPARISONS } from './contract-broken-exact.ts'
import { BROKEN_FAILURES } from './contract-broken-failures.ts'
import { BROKEN_HOLDS } from './contract-broken-holds.ts'
import { BROKEN_NAMES } from './contract-broken-names.ts'
import { BROKEN_PERMISSIONS } from './contract-broken-permissions.ts'
import { BROKEN_RACES } from './contract-broken-races.ts'
import { BROKEN_RAILS } from './contract-broken-rails.ts'
import { BROKEN_REPEATS } from './contract-broken-repeats.ts'
import { walletOf } from './contract-wallet.ts'

const BROKEN: readonly BrokenLedger[] = [
  ...BROKEN_HOLDS,
  ...BROKEN_ENDS,
  ...BROKEN_CREDITS,
  ...BROKEN_RAILS,
  ...BROKEN_COMPARISONS,
  ...BROKEN_NAMES,
  ...BROKEN_PERMISSIONS,
  ...BROKEN_REPEATS,
  ...BROKEN_FAILURES,
  ...BROKEN_RACES,
]

/** What a case says of a ledger: nothing where it keeps its promise. */
async function verdictOf(name: string, breakLedger: (ledger: DoubleEntryLedger) => Partial<Ledger>): Promise<unknown> {
  const found = ledgerContract().find((one) => one.name === name)
  if (found === undefined) throw new TypeError(`there is no case "${name}"`)
  const failure = nextFailure()
  const memory = memoryLedger()
  const books = { ...memory, ...failingCalls(memory, failure) }
  const { failNext } = failure
  const makeLedger = async () => ({ ...walletOf(books, { ...books, ...breakLedger(books) }), failNext })
  return found.run(makeLedger).catch((error: unknown) => error)
}

describe('the ledger contract finds a ledger that', () => {
  it.each(BROKEN.flatMap((ledger) => ledger.breaks.map((name) => [ledger.does, name, ledger] as const)))(
    '%s: %s',
    async (_does, name, { breakLedger, rejects, isSilent }) => {
      const running = verdictOf(name, breakLedger)
      // Nothing here waits for anything but promises, and a case is over within one turn.
      if (isSilent === true) return expect(await Promise.race([running, turns(2).then(() => 'silent')])).toBe('silent')
      const verdict = await running
      // A case that stumbles over what a broken ledger answers says nothing of it.
      if (rejects === undefined) expect(verdict).toBeInstanceOf(AssertionError)
      else expect(verdict).toEqual(new Error(rejects))
    },
  )
})

/** A process of a wallet that keeps in its memory what it has refused for lack of money. */
function processOf(books: DoubleEntryLedger): DoubleEntryLedger {
  const refused = new Map<string, bigint>()
  return {
    ...books,
    async hold(hold) {
      const { available = 0n } = (await books.balance(hold.account)) ?? {}
      const earlier = refused.get(hold.id)
      if (earlier === undefined && available >= hold.amount.value) return books.hold(hold)
      if (earlier === undefined) refused.set(hold.id, hold.amount.value)
      const isSame = earlier === undefined || earlier === hold.amount.value
      return { ok: false, reason: isSame ? 'insufficient_funds' : 'conflict' }
    },
  }
}

describe('the ledger contract', () => {
  it('finds answers that are kept in a process if its calls go to two of them in turn', async () => {
    const name = 'a refusal is kept under its id, even when money has come since'
    const [one, two] = [memoryLedger(), memoryLedger()]
    const run = (books: DoubleEntryLedger, called: Ledger) =>
      ledgerContract()
        .find((found) => found.name === name)
        ?.run(async () => walletOf(books, called))
    await run(one, processOf(one))
    await expect(run(two, inTurns([processOf(two), processOf(two)]))).rejects.toThrow(AssertionError)
    expect(() => inTurns([])).toThrow(TypeError)
    expect(() => inTurns([Promise.resolve()])).toThrow('a promise cannot take turns: await it')
  })

  it('takes ledgers in turn that cannot be changed', async () => {
    const frozen = inTurns([Object.freeze(memoryLedger()), Object.freeze(memoryLedger())])
    expect(await frozen.account('nobody')).toBeUndefined()
    expect(Object.keys(frozen)).toEqual(Object.keys(memoryLedger()))
  })

  it('takes ledgers in turn whose calls stand in their class', () => {
    class Books {
      readonly settle = memoryLedger().settle
      async account(): Promise<undefined> {}
    }
    const twins = inTurns([new Books(), new Books()])
    expect(['account', 'settle', 'then', 'constructor'].filter((name) => name in twins)).toEqual([
      'account',
      'settle',
      'constructor',
    ])
    expect(twins).toBeInstanceOf(Books)
  })

  it('EMB-7 has no case that no broken ledger breaks', () => {
    const proved = new Set(BROKEN.flatMap(({ breaks }) => breaks))
    expect(ledgerContract().filter(({ name }) => !proved.has(name))).toEqual([])
  })

  it('takes null for an account that does not exist, as a row of a database gives it', async () => {
    const verdict = await verdictOf(
      'account tells asset and permissions, and nothing of an account that is unknown',
      (ledger) => ({
        account: async (account) => (await ledger.account(account)) ?? null,
      }),
    )
    expect(verdict).toBeUndefined()
  })

  it('leaves it to a ledger whether it also holds nothing for a payee that is closed', async () => {
    const refused = new Map<string, string>()
    const held = new Set<string>()
    const strict = (ledger: DoubleEntryLedger): Partial<Ledger> => ({
      async hold(hold) {
        const { id, counterparty } = hold
        const args = JSON.stringify(hold, (_, value) => (typeof value === 'bigint' ? `${value}` : value))
        const payee = counterparty.kind === 'local' ? await ledger.account(counterparty.account) : undefined
        if (payee?.canReceive === false && !held.has(id) && !refused.has(id)) refused.set(id, args)
        const earlier = refused.get(id)
        if (earlier !== undefined) return { ok: false, reason: earlier === args ? 'not_allowed' : 'conflict' }
        held.add(id)
        return ledger.hold(hold)
      },
    })
    for (const { name } of ledgerContract()) {
      refused.clear()
      held.clear()
      expect(`${name}: ${await verdictOf(name, strict)}`).toBe(`${name}: undefined`)
    }
  })

  it('passes over a case whose `needs` is not given, so that a runner may skip it', async () => {
    const { setPermissions: _given, ...bare } = walletOf(memoryLedger())
    const named = ledgerContract().map(({ name }) => /^if (\w+) is given: /.exec(name)?.[1])
    expect(ledgerContract().map(({ needs }) => needs)).toEqual(named)
    for (const { needs, run } of ledgerContract()) if (needs !== undefined) await run(async () => bare)
  })

  it('takes a `failNext` that fails the next commit whatever it is to skip', async () => {
    for (const { run } of ledgerContract().filter(({ needs }) => needs === 'failNext')) {
      const [books, failure] = [memoryLedger(), nextFailure()]
      const wallet = walletOf(books, failingCalls(books, failure))
      await run(async () => ({ ...wallet, failNext: (moment) => failure.failNext(moment) }))
    }
  })

  it('has no two cases of one name', () => {
    const names = ledgerContract().map(({ name }) => name)
    expect(new Set(names).size).toBe(names.length)
  })

  it.each(ledgerContract().map(({ name }) => name))(
    'is sound itself, on a ledger that is only wrapped: %s',
    async (name) => {
      expect(await verdictOf(name, (ledger) => ({ ...ledger }))).toBeUndefined()
    },
  )
})
