import type { Ledger } from 'open-payments-server'

/** Logs each call that moves money once the ledger has taken it, before the payment goes on. */
export function loggedLedger(ledger: Ledger, log: (name: string, argument: object) => Promise<void>): Ledger {
  const logged = async <T extends { ok: boolean }>(name: string, argument: object, call: Promise<T>): Promise<T> => {
    const answer = await call
    if (answer.ok) await log(name, argument)
    return answer
  }
  return {
    account: (account) => ledger.account(account),
    hold: (hold) => logged('hold', hold, ledger.hold(hold)),
    credit: (credit) => logged('credit', credit, ledger.credit(credit)),
    settle: (settlement) => logged('settle', settlement, ledger.settle(settlement)),
    release: (release) => logged('release', release, ledger.release(release)),
  }
}
