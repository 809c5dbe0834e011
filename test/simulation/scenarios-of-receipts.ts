import { lastSegment } from '../support/last-segment.ts'
import { usdAmount } from '../support/test-wallet.ts'
import type { Scenario } from './scenario.ts'
import { READ_APART } from './scenarios-of-workers.ts'
import { commitsKind, LEASE, named, once, readsKind, repeated, type Stage, usd } from './stage.ts'
import type { SimulatedProcess } from './world.ts'

const DECIDE = 'src/records/decide.ts'
const RECEIVE = 'src/payments/receive-payment.ts'

/** What a process says to a transfer on the wallet's own rail, in a few words; that it does not know is `nothing`. */
async function report(via: SimulatedProcess, incoming: string, amount: bigint, transfer: string): Promise<string> {
  try {
    const received = await via.openPayments.incomingPayments.received(
      lastSegment(incoming),
      usdAmount(amount),
      transfer,
    )
    return received.ok ? `${received.accepted} and ${received.excess}` : received.reason
  } catch {
    return 'nothing'
  }
}

async function expectTold(stage: Stage, reported: Promise<string>, expected: string): Promise<void> {
  const found = (await stage.until(reported)) ?? 'no answer'
  stage.expect(found === expected, `a transfer is told ${found}, not ${expected}`)
}

/** Money on the wallet's own rail, and receivers that close. */
export const OF_RECEIPTS: readonly Scenario[] = [
  {
    name: 'a rail reports money after completion',
    async play(stage) {
      const one = stage.start()
      const receiver = await stage.incoming({ incomingAmount: usd(30) })
      await expectTold(stage, report(one, receiver, 30n, 'first'), '30 and 0')
      await expectTold(stage, report(one, receiver, 5n, 'second'), 'completed')
      await expectTold(stage, report(one, receiver, 30n, 'first'), '30 and 0')
    },
    without: [
      {
        what: 'the look at the state',
        edits: [{ file: RECEIVE, find: "if (payment.state === 'completed') return 'completed'\n", put: '' }],
        finds: /not completed/,
      },
      {
        what: 'the look for the transfer',
        edits: [
          {
            file: RECEIVE,
            find: 'if (known !== undefined) return { answer: answerKnown(known, record?.value, id, amount) }\n',
            put: '',
          },
        ],
        finds: /not 30 and 0/,
      },
    ],
  },
  {
    name: 'a rail reports money after expiry, and nobody has swept',
    async play(stage) {
      const one = stage.start()
      const expiresAt = new Date(stage.world.now() + 60_000).toISOString()
      const receiver = await stage.incoming({ expiresAt })
      await expectTold(stage, report(one, receiver, 30n, 'first'), '30 and 0')
      stage.world.scheduler.pass(60_001)
      await expectTold(stage, report(one, receiver, 30n, 'second'), 'expired')
      await expectTold(stage, report(one, receiver, 30n, 'first'), '30 and 0')
      one.openPayments.sweep()
    },
    without: [
      {
        what: 'the look at the clock',
        edits: [{ file: RECEIVE, find: "if (!isActive(payment, now)) return 'expired'\n", put: '' }],
        finds: /4: .* when rail:second came/,
      },
    ],
  },
  {
    name: 'a transfer is counted, and the reply is lost',
    async play(stage) {
      const one = stage.start()
      const receiver = await stage.incoming()
      stage.plan = once(commitsKind('receipt'), 'losesReply')
      await expectTold(stage, report(one, receiver, 30n, 'first'), '30 and 0')
      await expectTold(stage, report(one, receiver, 31n, 'first'), 'conflict')
    },
    without: [
      {
        what: 'the look at whether it happened',
        edits: [{ file: DECIDE, find: 'if (await hasHappened(context, changes, cause)) return []\n', put: '' }],
        finds: /told nothing/,
      },
      {
        what: 'the comparison with what was counted',
        edits: [
          { file: RECEIVE, find: 'receipt.incomingPaymentId !== id || !isSame', put: 'receipt.amount.value === 0n' },
        ],
        finds: /not conflict/,
      },
    ],
  },
  {
    name: 'a transfer is reported twice at once, and completes the payment',
    async play(stage) {
      const [one, other] = [stage.start(), stage.start()]
      const receiver = await stage.incoming({ incomingAmount: usd(30) })
      // Not the look at whose it is, which reads the same.
      const reads = stage.keepBack(other, 'effect', repeated(stage, readsKind('incoming-payment')))
      const second = report(other, receiver, 30n, 'transfer')
      await stage.untilKept(reads)
      await expectTold(stage, report(one, receiver, 30n, 'transfer'), '30 and 0')
      reads.letGo()
      await expectTold(stage, second, '30 and 0')
    },
    without: [
      {
        what: 'that receipt and incoming payment are read at one moment',
        edits: [READ_APART],
        finds: /told completed/,
      },
    ],
  },
  {
    name: 'a transfer is not counted, while another one of its amount is',
    async play(stage) {
      const [one, other] = [stage.start(), stage.start()]
      const receiver = await stage.incoming()
      stage.plan = (call) => (call.process === one.id && commitsKind('receipt')(call) ? 'fails' : undefined)
      const fails = stage.keepBack(one, 'reply', commitsKind('receipt'))
      const first = report(one, receiver, 30n, 'first')
      await stage.untilCalled(commitsKind('receipt'))
      await stage.until(report(other, receiver, 30n, 'second'))
      fails.letGo()
      await expectTold(stage, first, 'nothing')
    },
    without: [
      {
        what: 'that its own receipt is looked for',
        edits: [{ file: DECIDE, find: 'const own = [payment, receipt]', put: 'const own = [payment]' }],
        finds: /told 30 and 0/,
      },
    ],
  },
  {
    name: 'a transfer is reported with two amounts at once',
    async play(stage) {
      const [one, other] = [stage.start(), stage.start()]
      const receiver = await stage.incoming()
      stage.plan = (call) => (call.process === one.id && commitsKind('receipt')(call) ? 'fails' : undefined)
      const fails = stage.keepBack(one, 'reply', commitsKind('receipt'))
      const first = report(one, receiver, 30n, 'transfer')
      await stage.untilCalled(commitsKind('receipt'))
      await stage.until(report(other, receiver, 31n, 'transfer'))
      fails.letGo()
      await expectTold(stage, first, 'nothing')
    },
    without: [
      {
        what: 'the comparison of what was written',
        edits: [
          {
            file: 'src/records/as-committed.ts',
            find: 'return record.version === version && isMarkedSo && isEqualValue(record.value, value)',
            put: 'return record.version === version',
          },
        ],
        finds: /told 30 and 0/,
      },
    ],
  },
  {
    name: 'an incoming payment expires while money is under way to it',
    async play(stage) {
      const [one, other] = [stage.start(), stage.start()]
      const expiresAt = new Date(stage.world.now() + 20_000).toISOString()
      const receiver = await stage.incoming({ incomingAmount: usd(38), expiresAt })
      const credited = stage.keepBack(one, 'effect', named('credit'))
      stage.place(stage.order({ receiver }), one)
      await stage.runOut()
      stage.world.scheduler.pass(LEASE)
      await stage.until(other.openPayments.sweep())
      credited.letGo()
      await stage.end()
      stage.expect(stage.payments()[0]?.state === 'completed', 'what was reserved in time is paid')
    },
    without: [
      {
        what: 'that what is reserved holds up expiry',
        edits: [
          {
            file: 'src/payments/sweep.ts',
            find: 'if (record.value.reserved.value > 0n) {',
            put: 'if (record.value.reserved.value < 0n) {',
          },
        ],
        finds: /went from expired/,
      },
    ],
  },
]
