import { lastSegment } from '../support/last-segment.ts'
import type { Edit } from './core-without.ts'
import { send } from './exchange.ts'
import type { Scenario } from './scenario.ts'
import type { Call } from './scheduler.ts'
import { CLOSED, commitsKind, commitsState, LEASE, named, once, readsKind, repeated } from './stage.ts'

const DELIVER = 'src/payments/deliver-locally.ts'
const FINISH = 'src/payments/finish-payment.ts'
const HOLD = 'src/payments/confirm-hold.ts'
/** An incoming payment and a receipt of it, read one after the other. */
export const READ_APART: Edit = {
  file: 'src/payments/read-receipts.ts',
  find: `await context.storage.get([
    ...(isIdentifier(incomingPaymentId) ? [{ kind: 'incoming-payment', id: incomingPaymentId } as const] : []),
    ...receiptIds.map((id) => ({ kind: 'receipt', id }) as const),
  ])`,
  put: `[
    ...(await context.storage.get(receiptIds.map((id) => ({ kind: 'receipt', id }) as const))),
    ...(await context.storage.get([{ kind: 'incoming-payment', id: incomingPaymentId }])),
  ]`,
}
/** A commit is tried for longer than a lease. */
const PATIENT = { settings: { lifetimes: { accessTokenSeconds: 10_000_000 }, limits: { commitSeconds: 600 } } } as const

/** Two processes that have one payment in hand, or one that ends with it. */
export const OF_WORKERS: readonly Scenario[] = [
  {
    name: 'a worker whose lease has lapsed ends a payment that another one has ended',
    shape: PATIENT,
    async play(stage) {
      const [one, other] = [stage.start(), stage.start()]
      const receiver = await stage.incoming()
      const ends = stage.keepBack(one, 'effect', commitsState('failed'))
      await stage.world.ledger.setPermissions('bob', CLOSED)
      stage.place(stage.order({ receiver }), one)
      await stage.runOut()
      stage.world.scheduler.pass(LEASE)
      other.openPayments.recover()
      await stage.runOut()
      stage.expect(stage.payments()[0]?.state === 'failed', 'the other worker ends it')
      ends.letGo()
    },
    without: [
      {
        what: 'the version that a worker expects at the end',
        edits: [
          {
            file: FINISH,
            find: 'changesOfEnd(context, record, end, isFailed',
            put: `changesOfEnd(context, { ...record, version: (await context.storage.get([{ kind: record.kind, id: end.id }]))[0]?.version ?? 0 }, end, isFailed`,
          },
          {
            file: FINISH,
            find: "decide(context, attempt, { lost: { outcome: 'lost' } })",
            put: 'decide(context, attempt)',
          },
        ],
        finds: /went from failed to failed/,
      },
    ],
  },
  {
    name: 'a worker whose lease has lapsed ends a payment whose receipt another one has decided',
    shape: PATIENT,
    async play(stage) {
      const [one, other] = [stage.start(), stage.start()]
      const receiver = await stage.incoming()
      const ends = stage.keepBack(one, 'effect', commitsState('completed'))
      stage.place(stage.order({ receiver }), one)
      await stage.runOut()
      stage.world.scheduler.pass(LEASE)
      other.openPayments.recover()
      await stage.runOut()
      stage.expect(stage.payments()[0]?.state === 'completed', 'the other worker ends it')
      ends.letGo()
    },
    without: [
      {
        what: 'the receipt that is decided once, and the worker that stops',
        edits: [
          {
            file: DELIVER,
            find: "decide(context, attempt, { lost: { outcome: 'lost' } })",
            put: 'decide(context, attempt)',
          },
          {
            file: DELIVER,
            find: "if (receipt.value.state !== 'reserved') return { answer: await takenOver(context, record) }",
            put: `const [now] = await context.storage.get([{ kind: 'outgoing-payment', id: record.value.id }])
              record = { ...record, version: now?.version ?? 0 }`,
          },
        ],
        finds: /RangeError|went from/,
      },
    ],
  },
  {
    name: 'a worker reads on both sides of the decision of another one',
    async play(stage) {
      const [one, other] = [stage.start(), stage.start()]
      const receiver = await stage.incoming()
      const readsEither = (call: Call): boolean => readsKind('receipt')(call) || readsKind('incoming-payment')(call)
      const credits = stage.keepBack(one, 'effect', named('credit'))
      stage.place(stage.order({ receiver }), one)
      await stage.untilKept(credits)
      // Somebody else has a turn at the receiver in this process, which then reads it again.
      const euros = { value: 1n, assetCode: 'EUR', assetScale: 2 }
      await stage.until(one.openPayments.incomingPayments.received(lastSegment(receiver), euros, 'wire'))
      const reads = stage.keepBack(one, 'reply', readsEither)
      credits.letGo()
      await stage.runOut()
      stage.world.scheduler.pass(LEASE)
      other.openPayments.recover()
      await stage.runOut()
      reads.letGo()
    },
    without: [
      {
        what: 'that receipt and incoming payment are read at one moment',
        edits: [READ_APART],
        finds: /RangeError/,
      },
    ],
  },
  {
    name: 'two workers hear of one refusal',
    shape: PATIENT,
    async play(stage) {
      const [one, other] = [stage.start(), stage.start()]
      const receiver = await stage.incoming()
      stage.plan = once(named('hold'), 'isLost')
      const refused = stage.keepBack(one, 'effect', commitsState('failed'))
      stage.place(stage.order({ receiver }), one)
      await stage.untilCalled(named('hold'))
      await stage.world.ledger.setPermissions('alice', CLOSED)
      await stage.runOut()
      stage.world.scheduler.pass(LEASE)
      other.openPayments.recover()
      await stage.runOut()
      refused.letGo()
    },
    without: [
      {
        what: 'that only a created payment is refused',
        edits: [
          {
            file: HOLD,
            find: "if (record.value.state !== 'created') return { answer: { outcome: 'lost', record } }\n    const isShown",
            put: 'const isShown',
          },
        ],
        finds: /went from failed to failed/,
      },
    ],
  },
  {
    name: 'two workers hold one version of a payment, and the receiver closes between them',
    async play(stage) {
      const [one, other] = [stage.start(), stage.start()]
      const receiver = await stage.incoming({})
      const order = stage.order({ receiver, key: 'key' })
      // Somebody else is at the receiver in both processes: so the money is held, and no room reserved yet.
      const isInTurn = repeated(stage, readsKind('receipt'))
      const turns = [one, other].map((via) => stage.keepBack(via, 'reply', isInTurn))
      const euros = { value: 1n, assetCode: 'EUR', assetScale: 2 }
      for (const { openPayments } of [one, other])
        openPayments.incomingPayments.received(lastSegment(receiver), euros, 'wire')
      for (const turn of turns) await stage.untilKept(turn)
      // The commit of one happens; the other one's does not, and would have written the very same.
      stage.plan = once((call) => call.process === other.id && commitsState('sending')(call), 'fails')
      const writes = stage.keepBack(one, 'effect', commitsState('sending'))
      const fails = stage.keepBack(other, 'reply', commitsState('sending'))
      stage.place(order, one)
      await stage.untilCalled(commitsState('sending'))
      stage.place(order, other)
      await stage.untilCalled(commitsState('sending'), 2)
      const reserves = stage.keepBack(one, 'effect', commitsKind('receipt'))
      const credits = stage.keepBack(one, 'effect', named('credit'))
      const looks = stage.keepBack(
        other,
        'effect',
        (call) => stage.calls.some(commitsKind('receipt')) && readsKind('incoming-payment')(call),
      )
      for (const turn of turns) turn.letGo()
      writes.letGo()
      await stage.untilCalled(commitsKind('receipt'))
      fails.letGo()
      await stage.untilCalled((call) => call.process === other.id && readsKind('receipt')(call))
      await stage.untilKept(looks)
      reserves.letGo()
      await stage.untilKept(credits)
      stage.world.commits.completedByCall.add(lastSegment(receiver))
      const { client, token } = stage.receiving()
      const completed = await stage.until(
        send(stage.world, { client, method: 'POST', url: `${receiver}/complete`, token: token.value, via: one }),
      )
      stage.expect(completed?.status === 200, `it is completed: ${completed?.text}`)
      looks.letGo()
      await stage.runOut()
      credits.letGo()
    },
    without: [
      {
        what: 'the moment at which both are read, and the receipt that giving up inserts, too',
        edits: [
          READ_APART,
          { file: DELIVER, find: 'reason: taken.reason }, taken.changes)', put: 'reason: taken.reason }, [])' },
        ],
        finds: /8: |ledger: credit/,
      },
    ],
  },
  {
    name: 'a process ends between the decision to release and what it tells the ledger',
    async play(stage) {
      const [one, other] = [stage.start(), stage.start()]
      const receiver = await stage.incoming()
      stage.keepBack(one, 'reply', commitsState('decided'))
      await stage.world.ledger.setPermissions('bob', CLOSED)
      stage.place(stage.order({ receiver }), one)
      await stage.runOut()
      stage.world.crash(one)
      stage.world.scheduler.pass(LEASE)
      other.openPayments.recover()
    },
    without: [
      {
        what: 'the decision before the release',
        edits: [
          {
            file: DELIVER,
            find: "if (credited.outcome === 'refused') {\n",
            put: "if (credited.outcome === 'refused') await context.ledger.release({ id: payment.id })\n  if (credited.outcome === 'refused') {\n",
          },
        ],
        finds: /not what is committed/,
      },
      {
        what: 'the credit before the settlement',
        edits: [
          {
            file: DELIVER,
            find: 'const credited = await askLedger(',
            put: `await context.ledger.settle({ id: payment.id, amount: payment.debitAmount, fee: payment.fee })
              const credited = await askLedger(`,
          },
        ],
        finds: /not what is committed/,
      },
      {
        what: 'the lease that makes it due again',
        edits: [
          {
            file: FINISH,
            find: 'changes: [write, ...others],',
            put: "changes: [{ action: 'replace', kind: record.kind, version: record.version, isListed: true, value }, ...others],",
          },
        ],
        finds: /is still decided/,
      },
    ],
  },
]
