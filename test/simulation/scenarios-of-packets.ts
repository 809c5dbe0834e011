import type { RailTransfer } from 'open-payments-server'
import { lastSegment } from '../support/last-segment.ts'
import { usdAmount } from '../support/test-wallet.ts'
import { DOLLARS } from './far-side.ts'
import type { Scenario } from './scenario.ts'
import { CALM_RAIL } from './shape.ts'
import { CLOSED, commitsKind, LEASE, named, OPEN, readsKind, type Stage, usd } from './stage.ts'
import type { SimulatedProcess } from './world.ts'

const CREDIT = 'src/payments/rail/credit-receipt.ts'
const RECEIVE = 'src/payments/rail/receive-by-rail.ts'
const ACCOUNT = 'src/protocol/rail-account.ts'

const RECEIVING = { rail: CALM_RAIL } as const

/** A peer's packet of thirty, which its sender insists on. */
const packetTo = (incoming: string, members: Partial<RailTransfer> = {}): RailTransfer => ({
  id: '1'.padStart(32, '0'),
  incomingPayment: lastSegment(incoming),
  amount: usdAmount(30n),
  least: 30n,
  account: DOLLARS,
  accountAmount: usdAmount(30n),
  notAfter: Date.parse('2026-03-01T13:00:00Z'),
  ...members,
})

/** What a process says to a packet; that it does not know is `nothing`. */
async function tell({ world }: Stage, via: SimulatedProcess, transfer: RailTransfer): Promise<string> {
  world.railWatch.tells(transfer)
  if (via.rail === undefined) throw new Error('a process has no rail')
  try {
    const outcome = await via.rail.receive(transfer)
    world.railWatch.hears(transfer, outcome)
    return outcome
  } catch {
    return 'nothing'
  }
}

async function expectTold(stage: Stage, told: Promise<string>, expected: string): Promise<void> {
  const found = (await stage.until(told)) ?? 'no answer'
  stage.expect(found === expected, `a packet is told ${found}, not ${expected}`)
}

/** Money that comes from other servers. */
export const OF_PACKETS: readonly Scenario[] = [
  {
    name: 'a process ends when it has taken a packet, and nobody has been credited',
    shape: RECEIVING,
    async play(stage) {
      const [one, other] = [stage.start(), stage.start()]
      const packet = packetTo(await stage.incoming())
      const credits = stage.keepBack(one, 'effect', named('credit'))
      await expectTold(stage, tell(stage, one, packet), 'received')
      await stage.untilKept(credits)
      stage.world.crash(one)
      await expectTold(stage, tell(stage, other, packet), 'received')
    },
    without: [
      {
        what: 'the receipt before the answer',
        edits: [{ file: RECEIVE, find: "{ action: 'insert', kind: 'receipt', value: taken, dueAt }, ", put: '' }],
        finds: /reserves 30, not 0/,
      },
      {
        what: 'the room in the commit of the receipt',
        edits: [{ file: RECEIVE, find: ', room, moved]', put: ', moved]' }],
        finds: /4: .* reserves 0, not 30/,
      },
      {
        what: 'the account of the rail in the commit of the receipt',
        edits: [
          {
            file: RECEIVE,
            find: ', room, moved]',
            put: ', room]',
          },
        ],
        finds: /rail: .* has received 0/,
      },
      {
        what: 'the moment at which the receipt is due',
        edits: [
          {
            file: RECEIVE,
            find: "{ action: 'insert', kind: 'receipt', value: taken, dueAt }, ",
            put: "{ action: 'insert', kind: 'receipt', value: taken }, ",
          },
        ],
        finds: /is still reserved/,
      },
    ],
  },
  {
    name: 'a packet is refused, and told again as if it were good',
    shape: RECEIVING,
    async play(stage) {
      const [one, other] = [stage.start(), stage.start()]
      const packet = packetTo(await stage.incoming({ incomingAmount: usd(100) }))
      await expectTold(stage, tell(stage, one, { ...packet, isRefused: true }), 'refused')
      await expectTold(stage, tell(stage, other, packet), 'refused')
    },
    without: [
      {
        what: 'the refusal that is written down',
        edits: [
          {
            file: RECEIVE,
            find: "return { changes: [{ action: 'insert', kind: 'receipt', version, value: refused, dueAt: forgetAt }], answer }",
            put: 'return { answer }',
          },
        ],
        finds: /was refused, and is taken/,
      },
    ],
  },
  {
    name: 'a peer brings money while it has something that it may still refuse',
    shape: RECEIVING,
    async play(stage) {
      const one = stage.start()
      const sends = stage.keepBack(one, 'effect', named('send'))
      stage.place(stage.order({ receiver: stage.world.far.add().url }), one)
      await stage.untilKept(sends)
      await expectTold(stage, tell(stage, one, packetTo(await stage.incoming(), { most: 29n })), 'over_limit')
      sends.letGo()
      await stage.runOut()
    },
    without: [
      {
        what: 'that what is in flight makes no room for what comes',
        edits: [{ file: ACCOUNT, find: '(moves.sent - moves.inFlight)', put: 'moves.sent' }],
        finds: /the peer owes 30, and at most 29/,
      },
    ],
  },
  {
    name: 'a packet expires while its payment is looked up',
    shape: RECEIVING,
    async play(stage) {
      const one = stage.start()
      const packet = packetTo(await stage.incoming(), { notAfter: stage.world.now() + 60_000 })
      // Once to know whom to pay, and once to take it.
      const isSecond = (): boolean => stage.calls.filter(readsKind('rail-account')).length > 1
      const reads = stage.keepBack(one, 'effect', (call) => readsKind('rail-account')(call) && isSecond())
      const told = tell(stage, one, packet)
      await stage.untilKept(reads)
      stage.world.scheduler.pass(60_001)
      reads.letGo()
      await expectTold(stage, told, 'refused')
    },
    without: [
      {
        what: 'the look at the clock when it is taken',
        edits: [{ file: RECEIVE, find: 'const isLate = isTooLate(context, transfer)', put: 'const isLate = false' }],
        finds: /is taken too late/,
      },
    ],
  },
  {
    name: 'a packet is taken, and the payee is closed before it is credited',
    shape: RECEIVING,
    async play(stage) {
      const one = stage.start()
      const packet = packetTo(await stage.incoming())
      const credits = stage.keepBack(one, 'effect', named('credit'))
      await expectTold(stage, tell(stage, one, packet), 'received')
      await stage.untilKept(credits)
      await stage.world.ledger.setPermissions('bob', CLOSED)
      credits.letGo()
      await stage.runOut()
      await stage.world.ledger.setPermissions('bob', OPEN)
      stage.expect(stage.world.counts.get('event credit_refused') === 1, 'the host is told')
    },
    without: [
      {
        what: 'what the ledger answered',
        edits: [{ file: CREDIT, find: 'incoming, record, isCredited)', put: 'incoming, record, true)' }],
        finds: /events: .* is told as refused|the lines of bob/,
      },
    ],
  },
  {
    name: 'a process ends when a credit was refused, and nobody has been told',
    shape: RECEIVING,
    async play(stage) {
      const [one, other] = [stage.start(), stage.start()]
      const packet = packetTo(await stage.incoming())
      const credits = stage.keepBack(one, 'effect', named('credit'))
      const tells = stage.keepBack(one, 'effect', named('credit_refused'))
      await expectTold(stage, tell(stage, one, packet), 'received')
      await stage.untilKept(credits)
      await stage.world.ledger.setPermissions('bob', CLOSED)
      credits.letGo()
      await stage.untilKept(tells)
      stage.world.crash(one)
      await stage.world.ledger.setPermissions('bob', OPEN)
      stage.world.scheduler.pass(LEASE)
      other.openPayments.recover()
      await stage.runOut()
    },
    without: [
      {
        what: 'that the event is committed with the refusal',
        edits: [{ file: CREDIT, find: ', ...eventChanges(context, refusals)]', put: ']' }],
        finds: /nothing was kept|events: of/,
      },
    ],
  },
  {
    name: 'two processes credit one packet',
    shape: RECEIVING,
    async play(stage) {
      const [one, other] = [stage.start(), stage.start()]
      const packet = packetTo(await stage.incoming())
      const ends = stage.keepBack(
        one,
        'effect',
        (call) => stage.calls.some(named('credit')) && readsKind('receipt')(call),
      )
      await expectTold(stage, tell(stage, one, packet), 'received')
      await stage.untilKept(ends)
      stage.world.scheduler.pass(LEASE)
      await stage.until(other.openPayments.recover())
      ends.letGo()
    },
    without: [
      {
        what: 'that a receipt ends once',
        edits: [
          {
            file: CREDIT,
            find: "      if (record.value.state !== 'reserved') return { answer: undefined }\n",
            put: '',
          },
        ],
        finds: /was credited and became credited|RangeError/,
      },
    ],
  },
  {
    name: 'a packet is taken by two processes at once',
    shape: RECEIVING,
    async play(stage) {
      const [one, other] = [stage.start(), stage.start()]
      const packet = packetTo(await stage.incoming({ incomingAmount: usd(30) }))
      const takes = stage.keepBack(other, 'effect', commitsKind('receipt'))
      const second = tell(stage, other, packet)
      await stage.untilKept(takes)
      await expectTold(stage, tell(stage, one, packet), 'received')
      takes.letGo()
      await expectTold(stage, second, 'received')
    },
    without: [
      {
        what: 'the look for the receipt',
        edits: [
          {
            file: RECEIVE,
            find: 'if (known !== undefined) return { answer: known.answer }\n',
            put: '',
          },
        ],
        finds: /not received|and is taken/,
      },
    ],
  },
]
