import type { Deliveries, Payer, PlacedPayment } from '../../ports/context.ts'

/** The most payments that are with a payment method at once in one process. Each may hold several connections open. */
export const MOST_DELIVERIES = 256
/** The most of them for one account: a payer whose receivers do not answer leaves places for all others. */
const MOST_OF_ACCOUNT = 32
/** The most of these for one grant: a client whose receivers do not answer leaves places for the payer's other clients. */
const MOST_OF_GRANT = 24
/** The most payments of one grant that are remembered because they found no place; `recover()` finds the others. */
const MOST_WAITING_OF_GRANT = 100

/**
 * Hands out the places at payment methods: the number of payments that they work on at once in this process is limited.
 * A place that becomes free goes to a payment that waits for one, accounts in turn and the grants of each, before any that
 * are ordered later.
 */
export function createDeliveries(): Deliveries {
  const works = new Map<Promise<unknown>, PlacedPayment>()
  const waiting = createLines()
  let begin: ((payment: PlacedPayment) => Promise<unknown>) | undefined
  let pauses = 0

  const handOutPlaces: Deliveries['handOutPlaces'] = () => {
    const counts = new Map<string, number>()
    const countOf = (key: string): number => counts.get(key) ?? 0
    let count = 0
    const enter = (payer: Payer): void => {
      for (const key of [accountKeyOf(payer), grantKeyOf(payer)]) counts.set(key, countOf(key) + 1)
      count++
    }
    for (const payment of new Map([...works.values()].map((each) => [each.id, each])).values()) enter(payment)
    return (payer) => {
      const hasPlace =
        count < MOST_DELIVERIES &&
        countOf(accountKeyOf(payer)) < MOST_OF_ACCOUNT &&
        countOf(grantKeyOf(payer)) < MOST_OF_GRANT
      if (hasPlace) enter(payer)
      return hasPlace
    }
  }
  const beginWaiting = (): void => {
    if (begin === undefined || pauses > 0) return
    const next = (): PlacedPayment | undefined => waiting.next(handOutPlaces)
    for (let payment = next(); payment !== undefined; payment = next()) follow(payment, begin(payment))
  }
  const follow: Deliveries['follow'] = (payment, work) => {
    waiting.remove(payment)
    works.set(work, payment)
    const forget = (): void => {
      works.delete(work)
      beginWaiting()
    }
    work.then(forget, forget)
  }
  return {
    hasPlaceFor: (payment) => [...works.values()].some(({ id }) => id === payment.id) || handOutPlaces()(payment),
    handOutPlaces,
    follow,
    wait(payment) {
      waiting.add(payment)
      // A place may have become free since the payment was refused one.
      beginWaiting()
    },
    onPlace(takeUp) {
      begin = takeUp
    },
    async beginNoneDuring(work) {
      pauses++
      try {
        await work()
      } finally {
        pauses--
      }
    },
  }
}

/** Payments of one payer that wait for a place, the longest waiting first. */
interface Line extends Payer {
  readonly ids: Set<string>
}

/** The payments that wait for a place. */
interface Lines {
  add(payment: PlacedPayment): void
  remove(payment: PlacedPayment): void
  /** The next one that may have a place; it stays in its line. */
  next(handOutPlaces: Deliveries['handOutPlaces']): PlacedPayment | undefined
}

function createLines(): Lines {
  const lines = new Map<string, Line>()
  return {
    add({ id, account, grantId }) {
      const key = grantKeyOf({ account, grantId })
      const line = lines.get(key) ?? { account, grantId, ids: new Set() }
      if (line.ids.size >= MOST_WAITING_OF_GRANT) return
      line.ids.add(id)
      lines.set(key, line)
    },
    remove(payment) {
      const key = grantKeyOf(payment)
      const line = lines.get(key)
      if (line?.ids.delete(payment.id) && line.ids.size === 0) lines.delete(key)
    },
    // The longest waiting of the first line that may have a place. The lines of its account then come after those of all
    // others, this one last: an account does not get more places by having more grants.
    next(handOutPlaces) {
      if (lines.size === 0) return undefined
      const takePlace = handOutPlaces()
      for (const [key, line] of lines) {
        const { ids, ...payer } = line
        const [id] = ids
        if (id === undefined || !takePlace(payer)) continue
        const ofAccount = [...lines].filter(([other, { account }]) => account === line.account && other !== key)
        for (const [moved, each] of [...ofAccount, [key, line] as const]) {
          lines.delete(moved)
          lines.set(moved, each)
        }
        return { id, ...payer }
      }
      return undefined
    },
  }
}

function accountKeyOf({ account }: Payer): string {
  return `account ${account}`
}

/** A grant may pay from several accounts. */
function grantKeyOf({ account, grantId }: Payer): string {
  return `grant ${grantId} ${account}`
}
