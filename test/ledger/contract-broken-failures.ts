import { type BrokenLedger, randomId } from './contract-broken.ts'

const BEFORE =
  'if failNext is given: a call that fails before its commit rejects, and has its one effect when it comes again'
const AFTER =
  'if failNext is given: a call that fails after its commit rejects, and has no other effect when it comes again'
const OK = { ok: true } as const

/** Ledgers that are wrong if their database fails. What they call is that database: it rejects. */
export const BROKEN_FAILURES: readonly BrokenLedger[] = [
  {
    does: 'refuses what its database has failed at',
    breaks: [BEFORE, AFTER],
    breakLedger: (ledger) => ({
      hold: (hold) => ledger.hold(hold).catch(() => ({ ok: false, reason: 'not_allowed' })),
      credit: (credit) => ledger.credit(credit).catch(() => ({ ok: false, reason: 'not_allowed' })),
    }),
  },
  {
    does: 'tells of a conflict if its database has failed at an end',
    breaks: [BEFORE, AFTER],
    breakLedger: (ledger) => ({
      settle: (settlement) => ledger.settle(settlement).catch(() => ({ ok: false, reason: 'conflict' })),
      release: (release) => ledger.release(release).catch(() => ({ ok: false, reason: 'conflict' })),
    }),
  },
  {
    does: 'says that it has done what it has only tried',
    breaks: [BEFORE, AFTER],
    breakLedger: (ledger) => ({ credit: (credit) => ledger.credit(credit).catch(() => OK) }),
  },
  {
    does: 'claims an id first, and lets who comes again wait for the answer of who has claimed it',
    breaks: [BEFORE, AFTER],
    isSilent: true,
    breakLedger(ledger) {
      const claimed = new Set<string>()
      const answered = new Set<string>()
      return {
        async credit(credit) {
          if (claimed.has(credit.id) && !answered.has(credit.id)) return new Promise(() => undefined)
          claimed.add(credit.id)
          const answer = await ledger.credit(credit)
          answered.add(credit.id)
          return answer
        },
      }
    },
  },
  {
    does: 'claims an id first, and takes who comes again for another',
    breaks: [BEFORE],
    breakLedger(ledger) {
      const claimed = new Set<string>()
      const answered = new Set<string>()
      return {
        async hold(hold) {
          if (claimed.has(hold.id) && !answered.has(hold.id)) return { ok: false, reason: 'conflict' }
          claimed.add(hold.id)
          const answer = await ledger.hold(hold)
          answered.add(hold.id)
          return answer
        },
      }
    },
  },
  {
    does: 'claims an id first, and takes it for done when it comes again',
    breaks: [BEFORE],
    breakLedger(ledger) {
      const claimed = new Set<string>()
      return {
        async settle(settlement) {
          if (claimed.has(settlement.id)) return OK
          claimed.add(settlement.id)
          return ledger.settle(settlement)
        },
      }
    },
  },
  {
    does: 'moves the money first, and keeps the id in a transaction of its own',
    breaks: [AFTER],
    breakLedger(ledger) {
      const kept = new Map<string, string>()
      return {
        async credit(credit) {
          const id = kept.get(credit.id) ?? randomId()
          const answer = await ledger.credit({ ...credit, id })
          kept.set(credit.id, id)
          return answer
        },
      }
    },
  },
]
