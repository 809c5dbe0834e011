import type { Change } from 'open-payments-server'
import type { Order } from './orders.ts'
import type { Scenario } from './scenario.ts'
import { NO_KEY } from './scenarios-of-commits.ts'
import type { Call } from './scheduler.ts'
import { CLOSED, commitsKind, commitsState, named, OPEN, readsKind, type Stage, usd } from './stage.ts'
import type { SimulatedProcess } from './world.ts'

const HOLD = 'src/payments/confirm-hold.ts'
const CREATE = 'src/payments/create-payment.ts'
const DECIDE = 'src/records/decide.ts'
const TOGETHER = 'src/records/decide-together.ts'
const CHARGE = 'src/payments/charge-grant.ts'
const ONCE = 'src/records/decide-once.ts'
const PLAN = 'src/payments/plan-payment.ts'

const DAY = 86_400_000

/** Commits that create more than one payment. */
function createsSeveral({ name, arguments: [changes] }: Call): boolean {
  const isMade = ({ action, kind }: Change): boolean => action === 'insert' && kind === 'outgoing-payment'
  return name === 'commit' && (changes as readonly Change[]).filter(isMade).length > 1
}

/** Orders that are given twice, by their client or by somebody else. */
/** Repeats an order while the first request is carried out: the repeat has looked for its key, and reads this only afterwards. */
async function repeatMeanwhile(
  stage: Stage,
  [one, other]: readonly [SimulatedProcess, SimulatedProcess],
  order: Order,
  kind: 'incoming-payment' | 'spending',
): Promise<void> {
  const reads = stage.keepBack(other, 'effect', readsKind(kind))
  const second = stage.place(order, other)
  await stage.runOut()
  const first = await stage.until(stage.place(order, one))
  reads.letGo()
  const again = await stage.until(second)
  stage.expect(
    again?.status === 201 && again.text === first?.text,
    `the repeat is answered as the request was: ${again?.status}`,
  )
}

export const OF_ORDERS: readonly Scenario[] = [
  {
    name: 'a request is sent once more while it is answered',
    async play(stage) {
      const [one, other] = [stage.start(), stage.start()]
      const receiver = await stage.incoming()
      const order = stage.order({ receiver })
      const commits = [one, other].map((process) => stage.keepBack(process, 'effect', commitsState('created')))
      stage.place(order, one)
      await stage.runOut()
      stage.replay(order, other)
      await stage.runOut()
      for (const { letGo } of commits) letGo()
      await stage.end()
      stage.expect(stage.payments().length === 1, `it is paid once: ${stage.payments().length}`)
    },
    without: [
      {
        what: 'the replay claim in the commit of the order',
        edits: [
          {
            file: DECIDE,
            find: '...(decision.changes ?? []), ...claims]',
            put: '...(decision.changes ?? [])]',
          },
        ],
        finds: /claims no signature|paid/,
      },
    ],
  },
  {
    name: 'a request is sent once more while both wait for an order of the same grant',
    async play(stage) {
      const one = stage.start()
      const receiver = await stage.incoming()
      const first = stage.keepBack(one, 'effect', commitsState('created'))
      stage.place(stage.order({ receiver, value: 5 }), one)
      await stage.runOut()
      const order = stage.order({ receiver, value: 10 })
      const told = [stage.place(order, one)]
      await stage.runOut()
      told.push(stage.replay(order, one), stage.place(stage.order({ receiver, value: 20 }), one))
      await stage.runOut()
      first.letGo()
      await stage.end()
      stage.expect(stage.payments().length === 3, `it is paid once: ${stage.payments().length}`)
    },
    without: [
      {
        what: 'that twins share no commit',
        edits: [
          { file: TOGETHER, find: '!isSpending(change) && !isSameCheck(change, other)', put: 'own.length === 0' },
        ],
        finds: /claims no signature|paid/,
      },
      {
        what: 'what those before leave of the budget',
        edits: [{ file: CHARGE, find: 'uncommitted.filter(isSpending).map(asRecord)', put: '[]' }],
        finds: /2: .* says/,
      },
    ],
  },
  {
    name: 'orders of one grant share a commit, each with a nonce',
    async play(stage) {
      const one = stage.start()
      const receiver = await stage.incoming()
      const first = stage.keepBack(one, 'effect', commitsState('created'))
      for (const value of [5, 10, 20]) stage.place(stage.order({ receiver, value, isUnique: true }), one)
      await stage.runOut()
      first.letGo()
      await stage.end()
      stage.expect(stage.calls.some(createsSeveral), 'two of them share a commit')
    },
    without: [
      {
        what: 'the claim of each signature beside that of its nonce',
        edits: [
          { file: ONCE, find: '[...changes, ...claims], answer }', put: '[...changes, ...claims.slice(1)], answer }' },
        ],
        finds: /claims no signature/,
      },
    ],
  },
  {
    name: 'orders of one grant wait while another process spends of it',
    async play(stage) {
      const [one, other] = [stage.start(), stage.start()]
      const receiver = await stage.incoming()
      const first = stage.keepBack(one, 'effect', commitsState('created'))
      for (const value of [5, 10, 20, 30]) stage.place(stage.order({ receiver, value }), one)
      await stage.runOut()
      const together = stage.keepBack(one, 'effect', createsSeveral)
      first.letGo()
      await stage.untilKept(together)
      await stage.until(stage.place(stage.order({ receiver, value: 5 }), other))
      together.letGo()
      await stage.end()
      stage.expect(stage.payments().length === 5, `all are paid: ${stage.payments().length}`)
    },
    without: [
      {
        what: 'that nothing of a joint commit has happened where it conflicts',
        edits: [{ file: TOGETHER, find: 'if (conflicts.length === 0) for', put: 'for' }],
        finds: /vanished|500/,
      },
    ],
  },
  {
    name: 'a request that was sent once more waits for another order of its grant until its claim is swept',
    async play(stage) {
      const [one, other] = [stage.start(), stage.start()]
      const receiver = await stage.incoming()
      const order = stage.order({ receiver, key: 'key' })
      const [first, ahead] = [one, other].map((process) => stage.keepBack(process, 'effect', commitsState('created')))
      stage.place(order, one)
      stage.place(stage.order({ receiver, value: 5 }), other)
      await stage.runOut()
      const second = stage.replay(order, other)
      await stage.runOut()
      first?.letGo()
      await stage.runOut()
      stage.world.scheduler.pass(90_000_000)
      await stage.until(one.openPayments.sweep())
      ahead?.letGo()
      const told = await stage.until(second)
      stage.expect(told?.status === 401, `signature is too old by now: ${told?.status}`)
    },
    without: [
      {
        what: 'the second look at its age',
        edits: [{ file: PLAN, find: 'claims.some((claim) => isExpiredClaim(claim, now))', put: 'now < 0' }],
        finds: /answered with/,
      },
    ],
  },
  {
    name: 'two processes sweep an expired key, one of them when an order has taken it again',
    async play(stage) {
      const [one, other] = [stage.start(), stage.start()]
      const receiver = await stage.incoming({ expiresAt: new Date(stage.world.now() + 3 * DAY).toISOString() })
      await stage.until(stage.place(stage.order({ receiver, key: 'key', value: 5 }), one))
      await stage.runOut()
      stage.world.scheduler.pass(2 * DAY)
      const held = stage.keepBack(one, 'effect', commitsKind('idempotency-key'))
      const swept = one.openPayments.sweep()
      await stage.untilKept(held)
      await stage.until(other.openPayments.sweep())
      const order = stage.order({ receiver, key: 'key', value: 6 })
      const first = await stage.until(stage.place(order, other))
      held.letGo()
      await stage.until(swept)
      // Signed anew: the identical request would be a replay.
      stage.world.scheduler.pass(1000)
      const answers = [first, await stage.until(stage.place(order, other))]
      stage.expect(
        answers.every((answer) => answer?.status === 201),
        `both are told of it: ${answers.map((one) => one?.status)}`,
      )
    },
    without: [
      {
        what: 'the version at which its record starts',
        edits: [{ file: ONCE, find: 'version: startVersion(context)', put: 'version: 1' }],
        finds: /answered with|paid/,
      },
    ],
  },
  {
    name: 'a repeat under a key finds its request still waiting for the ledger',
    async play(stage) {
      const [one, other] = [stage.start(), stage.start()]
      const receiver = await stage.incoming()
      const order = stage.order({ receiver, key: 'key' })
      const held = stage.keepBack(one, 'reply', named('hold'))
      const first = stage.place(order, one)
      await stage.untilCalled(named('hold'))
      const second = await stage.until(stage.place(order, other))
      held.letGo()
      const answers = [await stage.until(first), second]
      stage.expect(
        answers.every((answer) => answer?.status === 201),
        `both are told of it: ${answers.map((one) => one?.status)}`,
      )
    },
    without: [{ what: 'the key in the commit of the order', edits: [NO_KEY], finds: /not one commit|paid/ }],
  },
  {
    name: 'a repeat finds its receiver paid by the request that it repeats',
    async play(stage) {
      // Another process makes the quote: these do not know what it names, and read that after their first look for the key.
      stage.start()
      const receiver = await stage.incoming({ incomingAmount: usd(40) })
      const quote = await stage.quote(receiver, 40)
      const processes = [stage.start(), stage.start()] as const
      const order = stage.order({ receiver, quote, key: 'key' })
      await repeatMeanwhile(stage, processes, order, 'incoming-payment')
    },
    without: [
      {
        what: 'the second look for the key before its turn',
        edits: [
          {
            file: ONCE,
            find: "if (isUsed(context, await readRecord(context.storage, 'idempotency-key', key?.id))) return",
            put: 'if (context === undefined) return',
          },
        ],
        finds: /answered as the request was/,
      },
    ],
  },
  {
    name: 'a repeat finds its budget spent by the request that it repeats',
    async play(stage) {
      const processes = [stage.start(), stage.start()] as const
      const receiver = await stage.incoming()
      // The grant allows 150.
      const order = stage.order({ receiver, value: 80, grant: 1, key: 'key' })
      await repeatMeanwhile(stage, processes, order, 'spending')
    },
    without: [
      {
        what: 'the second look for the key',
        edits: [
          {
            file: DECIDE,
            find: 'return refuse(refusal)',
            put: 'throw refusal',
          },
        ],
        finds: /answered as the request was/,
      },
    ],
  },
  {
    name: 'a repeat finds its quote used by an order that is undone before its turn',
    async play(stage) {
      const [one, other] = [stage.start(), stage.start()]
      const receiver = await stage.incoming()
      const order = stage.order({ receiver, quote: await stage.quote(receiver, 40), key: 'key' })
      const held = stage.keepBack(one, 'effect', named('hold'))
      const quote = stage.keepBack(other, 'effect', readsKind('quote'))
      const second = stage.place(order, other)
      await stage.untilKept(quote)
      // In another second, or it would be the same request.
      stage.world.scheduler.pass(1_000)
      const first = stage.place(order, one)
      await stage.untilKept(held)
      const keysBefore = stage.calls.filter(readsKind('idempotency-key')).length
      // The next but one look for the key is that in its turn.
      const inTurn = stage.keepBack(
        other,
        'effect',
        (call) =>
          readsKind('idempotency-key')(call) &&
          stage.calls.filter(readsKind('idempotency-key')).length > keysBefore + 1,
      )
      quote.letGo()
      await stage.untilKept(inTurn)
      await stage.world.ledger.setPermissions('alice', CLOSED)
      held.letGo()
      const refused = await stage.until(first)
      await stage.world.ledger.setPermissions('alice', OPEN)
      inTurn.letGo()
      const again = await stage.until(second)
      stage.expect(
        refused?.status === 403 && again?.status === 201,
        `the repeat is a first order: ${refused?.status}, ${again?.status}`,
      )
    },
    without: [
      {
        what: 'that terms which were refused are read again',
        edits: [
          {
            file: CREATE,
            find: '    terms ??= await order.readTerms()\n',
            put: '    if (terms === undefined) throw invalidQuote()\n',
          },
          {
            file: CREATE,
            find: 'idempotencyConflict, ledgerRefused',
            put: 'idempotencyConflict, invalidQuote, ledgerRefused',
          },
        ],
        finds: /the repeat is a first order/,
      },
      {
        what: 'the second look at a quote that was read as used',
        edits: [
          {
            file: 'src/resource-server/outgoing-payments.ts',
            find: "found.value.state === 'open' ? found : await findQuote(context, payer, url, client)",
            put: 'found',
          },
        ],
        finds: /the repeat is a first order/,
      },
    ],
  },
  {
    name: 'an order is refused, and given again under its key',
    async play(stage) {
      const one = stage.start()
      const receiver = await stage.incoming()
      const order = stage.order({ receiver, quote: await stage.quote(receiver, 40), key: 'key' })
      const first = stage.place(order, one)
      await stage.untilCalled(named('hold'))
      await stage.world.ledger.setPermissions('alice', CLOSED)
      const refused = await stage.until(first)
      stage.expect(refused?.status === 403, `the account is closed: ${refused?.status}`)
      await stage.world.ledger.setPermissions('alice', OPEN)
      // In another second, or it would be the same request.
      stage.world.scheduler.pass(1_000)
      const again = await stage.until(stage.place(order, one))
      stage.expect(again?.status === 201, `the key and the quote are free: ${again?.status}`)
      const last = await stage.until(stage.replay(order, one))
      stage.expect(last?.text === again?.text, `the identical request is answered as before: ${last?.text}`)
    },
    without: [
      {
        what: 'the key that a refusal frees',
        edits: [{ file: HOLD, find: '...(await freeKeyChanges(context, payment)),', put: '' }],
        finds: /keeps its key/,
      },
      {
        what: 'the quote that a refusal frees',
        edits: [{ file: HOLD, find: '...(await reopenQuoteChanges(context, payment)),', put: '' }],
        finds: /keeps its quote/,
      },
      {
        what: 'the budget that a refusal gives back',
        edits: [
          {
            file: HOLD,
            find: '...(await releaseSpendingChanges(context, payment)),\n    ...(signed',
            put: '...(signed',
          },
        ],
        finds: /2: .* says/,
      },
    ],
  },
  {
    name: 'a repeat finds its key, and then its payment undone',
    async play(stage) {
      const [one, other] = [stage.start(), stage.start()]
      const receiver = await stage.incoming()
      const order = stage.order({ receiver, key: 'key' })
      const held = stage.keepBack(one, 'effect', named('hold'))
      const first = stage.place(order, one)
      await stage.untilCalled(named('hold'))
      await stage.world.ledger.setPermissions('alice', CLOSED)
      const reads = stage.keepBack(other, 'effect', readsKind('outgoing-payment'))
      const second = stage.place(order, other)
      await stage.untilKept(reads)
      held.letGo()
      await stage.until(first)
      reads.letGo()
      const told = await stage.until(second)
      stage.expect(told?.status === 403, `the repeat is refused, too: ${told?.status}`)
    },
    without: [
      {
        what: 'the look at what became of the payment',
        edits: [{ file: CREATE, find: "if (state === 'refused') throw ledgerRefused(refusalOf(decision))\n", put: '' }],
        finds: /refused, too|answered with/,
      },
    ],
  },
  {
    name: 'a repeat that was refused with its request is sent again by somebody else',
    async play(stage) {
      const [one, other] = [stage.start(), stage.start()]
      const receiver = await stage.incoming()
      const order = stage.order({ receiver, key: 'key' })
      const held = stage.keepBack(one, 'effect', named('hold'))
      const first = stage.place(order, one)
      await stage.untilCalled(named('hold'))
      await stage.world.ledger.setPermissions('alice', CLOSED)
      // In another second, or it would be the same request.
      stage.world.scheduler.pass(1_000)
      await stage.until(stage.place(order, other))
      held.letGo()
      await stage.until(first)
      await stage.world.ledger.setPermissions('alice', OPEN)
      const again = await stage.until(stage.replay(order, other))
      stage.expect(again?.status === 401, `the signature is used up: ${again?.status}`)
    },
    without: [
      {
        what: 'the signature that a repeat uses up',
        edits: [{ file: ONCE, find: 'if (once.isRepeat) await claimForRepeat(context, used)\n', put: '' }],
        finds: /captured|used up/,
      },
    ],
  },
]
