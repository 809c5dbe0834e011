import { isDeepStrictEqual } from 'node:util'
import type { Credit, Hold, Ledger, LedgerResult, Settlement } from 'open-payments-server'
import type { DoubleEntryLedger } from 'open-payments-server/ledger/memory'
import { creditIdOf, type OutgoingPayment } from './payment-facts.ts'
import type { SimulatedStorage } from './simulated-storage.ts'
import type { CommitWatch } from './watch-commits.ts'
import type { SimulatedProcess } from './world.ts'

/** The calls of a ledger that move money, with what they are given. */
export interface Movements {
  readonly hold: Hold
  readonly settle: Settlement
  readonly release: { readonly id: string }
  readonly credit: Credit
}

/** The ledger as one process calls it: every call is compared with what is committed, every effect with the books. */
export interface WatchedLedger {
  readonly account: Ledger['account']
  /** Looks at a call when it is made; what it answers lets the effect happen, each time that the call is delivered. */
  begin<M extends keyof Movements>(name: M, given: Movements[M], by: SimulatedProcess): () => ReturnType<Ledger[M]>
}

interface Watching {
  readonly ledger: DoubleEntryLedger
  readonly storage: SimulatedStorage
  readonly commits: CommitWatch
  readonly totals: () => ReadonlyMap<string, bigint>
  violate(text: string): void
  met(what: string): void
}

export function watchLedger({ ledger, storage, commits, totals, violate, met }: Watching): WatchedLedger {
  const asked = new Map<string, SimulatedProcess>()
  const answers = new Map<string, boolean>()

  const paymentOf = (name: keyof Movements, id: string): OutgoingPayment | undefined =>
    name === 'credit' ? commits.paymentOfCredit(id) : storage.find('outgoing-payment', id)?.value

  /** What is committed by the time of the call: every argument, and what must stand before it. */
  function checkArguments(name: keyof Movements, given: Movements[keyof Movements]): void {
    const expected = expectedOf(name, given)
    if (!isDeepStrictEqual(given, expected)) violate(`ledger: ${name} ${given.id} is not what is committed`)
  }

  function expectedOf(name: keyof Movements, { id }: { readonly id: string }): unknown {
    const payment = paymentOf(name, id)
    if (payment === undefined) return name === 'credit' ? expectedOfRail(id) : undefined
    const {
      account,
      payeeAccount,
      incomingPaymentId: incomingPayment,
      decision,
      debitAmount,
      receiveAmount,
      fee,
      rail,
    } = payment
    switch (name) {
      case 'hold':
        return {
          id,
          account,
          amount: debitAmount,
          counterparty:
            rail === undefined
              ? { kind: 'local', account: payeeAccount, incomingPayment }
              : {
                  kind: 'rail',
                  method: rail.method,
                  address: rail.address,
                  ...(rail.walletAddress !== undefined && { walletAddress: rail.walletAddress }),
                },
        }
      case 'credit': {
        const counterparty = { kind: 'local', account, incomingPayment }
        const isReserved = storage.find('receipt', id) !== undefined
        return isReserved ? { id, account: payeeAccount, amount: receiveAmount, counterparty } : undefined
      }
      case 'settle': {
        if (isCredited(payment)) return { id, amount: debitAmount, fee }
        if (decision?.action !== 'settle') return undefined
        return { id, amount: { ...debitAmount, value: decision.amount }, fee: { ...fee, value: decision.fee } }
      }
      case 'release':
        return decision?.action === 'release' ? { id } : undefined
    }
  }

  /** A payment within the wallet is settled whole once its payee is credited: no other end is left. */
  function isCredited({ id, state, rail }: OutgoingPayment): boolean {
    return state === 'sending' && rail === undefined && answers.get(`credit ${creditIdOf(id)}`) === true
  }

  /** Money that a rail has taken is credited as its receipt says. */
  function expectedOfRail(id: string): unknown {
    const { payeeAccount: account, amount, railAccountId } = storage.find('receipt', id)?.value ?? {}
    if (railAccountId === undefined || account === undefined) return undefined
    const [method, address] = railAccountId.split(/:(.*)/)
    return { id, account, amount, counterparty: { kind: 'rail', method, address } }
  }

  /** The state in which a payment must be when a call first moves money. */
  function checkState(name: keyof Movements, id: string): void {
    const payment = paymentOf(name, id)
    const due = { hold: 'created', credit: 'sending', settle: 'decided', release: 'decided' }[name]
    const isSettledAtOnce = name === 'settle' && payment !== undefined && isCredited(payment)
    if (payment?.state !== due && !isSettledAtOnce && !(name === 'credit' && payment === undefined))
      violate(`ledger: ${name} ${id} took effect while its payment was ${payment?.state}`)
    const receipt = name === 'credit' ? storage.find('receipt', id)?.value : undefined
    if (name === 'credit' && receipt?.state !== 'reserved') violate(`ledger: credit ${id} came without room for it`)
  }

  async function checkTotals(): Promise<void> {
    const found = new Map((await ledger.totals()).map(({ assetCode, value }) => [assetCode, value]))
    for (const [asset, value] of totals())
      if (found.get(asset) !== value) violate(`1: the sum over all ${asset} is ${found.get(asset)}, not ${value}`)
  }

  return {
    account: (account) => ledger.account(account),
    begin(name, given, by) {
      checkArguments(name, given)
      const call = `${name} ${given.id}`
      const before = asked.get(call)
      if (before !== undefined) met(`a ${name} is asked for again`)
      if (before?.isAlive === true && before !== by) met('two processes are at one payment')
      asked.set(call, by)
      const move = ledger[name] as (given: Movements[typeof name]) => Promise<LedgerResult>
      const take = async (): Promise<LedgerResult> => {
        const answer = await move(given)
        if (answers.has(call)) {
          met(`a ${name} arrives again${answer.ok ? '' : ', after it was refused'}`)
        } else {
          checkState(name, given.id)
          met(`a ${name} ${answer.ok ? 'happens' : `is refused: ${answer.reason}`}`)
          await checkTotals()
        }
        if (!answer.ok && answer.reason === 'conflict') violate(`ledger: ${call} met a conflict`)
        answers.set(call, answer.ok)
        return answer
      }
      return take as () => ReturnType<Ledger[typeof name]>
    },
  }
}
