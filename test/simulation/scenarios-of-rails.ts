import type { Scenario } from './scenario.ts'
import { CALM_RAIL } from './shape.ts'
import { LEASE, named, once, type Stage } from './stage.ts'
import type { SimulatedProcess } from './world.ts'

const COMMIT = 'src/payments/rail/commit-delivery.ts'
const DELIVER = 'src/payments/rail/deliver-by-rail.ts'
const FOLLOW = 'src/payments/rail/follow-delivery.ts'
const RECHECK = 'src/payments/rail/recheck-receiver.ts'

/** Payments leave in three parts, one after the other, and none is rejected. */
const SENDING = { rail: CALM_RAIL } as const

/** Orders a payment to a receiver elsewhere, whose process ends when its first part has left and not been answered. */
async function interrupt(stage: Stage, receiver: string): Promise<SimulatedProcess> {
  const [one, other] = [stage.start(), stage.start()]
  stage.keepBack(one, 'reply', named('send'))
  stage.place(stage.order({ receiver }), one)
  await stage.untilCalled(named('send'))
  await stage.runOut()
  stage.world.crash(one)
  stage.world.scheduler.pass(LEASE)
  return other
}

/** Money that leaves for other servers. */
export const OF_RAILS: readonly Scenario[] = [
  {
    name: 'a worker whose lease has lapsed goes on sending',
    shape: SENDING,
    async play(stage) {
      const [one, other] = [stage.start(), stage.start()]
      const { url } = stage.world.far.add()
      const answers = stage.keepBack(one, 'reply', named('send'))
      stage.place(stage.order({ receiver: url }), one)
      await stage.untilCalled(named('send'))
      await stage.untilKept(answers)
      // It does not wake up when its lease is over.
      stage.keepBack(one, 'reply', named('sleep'))
      stage.world.scheduler.pass(LEASE)
      const sends = stage.keepBack(other, 'effect', named('send'))
      other.openPayments.recover()
      await stage.untilKept(sends)
      answers.letGo()
      await stage.runOut()
      sends.letGo()
    },
    without: [
      {
        what: 'the version that each record expects',
        edits: [
          { file: COMMIT, find: "  if (stored?.version !== version) return 'lost'\n", put: '' },
          {
            file: COMMIT,
            find: ': write(next, moved)',
            put: `: write({ ...next, version: now?.version ?? 0 }, moved)`,
          },
          {
            file: COMMIT,
            find: 'const moved = await accountChanges(',
            put: `const [now] = await context.storage.get([{ kind: 'outgoing-payment', id: record.value.id }])
              const moved = await accountChanges(`,
          },
        ],
        finds: /7: .* went from|rail: /,
      },
    ],
  },
  {
    name: 'a payment leaves over a rail',
    shape: SENDING,
    async play(stage) {
      const one = stage.start()
      stage.place(stage.order({ receiver: stage.world.far.add().url }), one)
      await stage.runOut()
      stage.expect(stage.payments()[0]?.state === 'completed', 'it arrives')
    },
    without: [
      {
        what: 'the account of the rail in the commit of what leaves',
        edits: [
          { file: COMMIT, find: 'if (movement === undefined) return []', put: 'if (movement !== undefined) return []' },
        ],
        finds: /rail: .* has sent 0/,
      },
      {
        what: 'the record before anything leaves',
        edits: [
          {
            file: FOLLOW,
            find: 'const written = await commitProgress(',
            put: `if (progress.sent === 0n) return 'recorded'
              const written = await commitProgress(`,
          },
        ],
        finds: /is not written down as in flight/,
      },
    ],
  },
  {
    name: 'nobody knows what became of a part',
    shape: { rail: { ...CALM_RAIL, isAskable: false } },
    async play(stage) {
      const one = stage.start()
      stage.plan = once(named('send'), 'losesReply')
      stage.place(stage.order({ receiver: stage.world.far.add().url }), one)
    },
    without: [
      {
        what: 'that it waits for the host',
        edits: [
          {
            file: DELIVER,
            find: "? leaveToHost(context, record, progress, 'unknown')\n    :",
            put: `? endDelivery(context, record, {
                outcome: 'ended',
                reason: 'unknown',
                progress: { ...progress, inFlight: { sent: 0n, received: 0n } },
              })
            :`,
          },
        ],
        finds: /rail: of .* left/,
      },
    ],
  },
  {
    name: 'somebody else pays a receiver before it is paid',
    shape: SENDING,
    async play(stage) {
      const one = stage.start()
      const receiver = stage.world.far.add({ incomingValue: 40n })
      const held = stage.keepBack(one, 'reply', named('hold'))
      stage.place(stage.order({ receiver: receiver.url }), one)
      await stage.untilKept(held)
      receiver.receivedValue = 30n
      held.letGo()
    },
    without: [
      {
        what: 'the look at what it still takes',
        edits: [
          {
            file: RECHECK,
            find: "return { state: 'over', reason: 'receiver_over_remainder' }",
            put: "return { state: 'open', details }",
          },
        ],
        finds: /T-45/,
      },
    ],
  },
  {
    name: 'somebody else pays a receiver while the first part is in flight',
    shape: SENDING,
    async play(stage) {
      const receiver = stage.world.far.add({ incomingValue: 40n })
      const other = await interrupt(stage, receiver.url)
      receiver.receivedValue = 38n
      await stage.until(other.openPayments.recover())
    },
    without: [
      {
        what: 'that nothing new leaves until it is known what became of that',
        edits: [
          { file: DELIVER, find: "stop !== undefined || receiver.state === 'unclear'", put: 'stop !== undefined' },
        ],
        finds: /T-45/,
      },
    ],
  },
  {
    name: 'a worker whose lease has lapsed has found out what became of the first part',
    shape: SENDING,
    async play(stage) {
      const receiver = stage.world.far.add({ incomingValue: 40n })
      const other = await interrupt(stage, receiver.url)
      const third = stage.start()
      receiver.receivedValue = 38n
      // It does not wake up when its lease is over.
      stage.keepBack(other, 'reply', named('sleep'))
      const asks = stage.keepBack(other, 'reply', named('send'))
      other.openPayments.recover()
      await stage.untilKept(asks)
      stage.world.scheduler.pass(LEASE)
      third.openPayments.recover()
      await stage.runOut()
      asks.letGo()
    },
    without: [
      {
        what: 'that it stops where another one has the payment',
        edits: [{ file: DELIVER, find: "    if (followed.isLost()) return { outcome: 'lost' }\n", put: '' }],
        finds: /another worker has this delivery/,
      },
    ],
  },
  {
    name: 'a receiver is named anew while a part is in flight',
    shape: SENDING,
    async play(stage) {
      const receiver = stage.world.far.add()
      const other = await interrupt(stage, receiver.url)
      stage.world.far.renewDetails(receiver)
      await stage.until(other.openPayments.recover())
      await stage.runOut()
      stage.expect(stage.payments()[0]?.state === 'completed', 'it is paid where it was paid first')
    },
    without: [
      {
        what: 'what it was to be paid by when the first of it left',
        edits: [
          {
            file: DELIVER,
            find: 'if (delivery?.details !== undefined) return openDetails(context, delivery.details)',
            put: 'if (delivery?.details !== undefined && receiver.state !== "open") return undefined',
          },
        ],
        finds: /is looked for where it was not sent/,
      },
    ],
  },
]
