import type { Scenario } from './scenario.ts'
import { CLOSED, commitsKind, named, OPEN, usd } from './stage.ts'

const DELIVER = 'src/payments/deliver-locally.ts'
const HOLD = 'src/payments/confirm-hold.ts'
const CREATE = 'src/payments/create-payment.ts'

/** Ledgers that answer late, arrive late, or forget. */
export const OF_LEDGERS: readonly Scenario[] = [
  {
    name: 'a credit is answered after its deadline, and after the retry',
    async play(stage) {
      const one = stage.start()
      const receiver = await stage.incoming()
      const isFirst = (call: object): boolean => call === stage.calls.find(named('credit'))
      const late = stage.keepBack(one, 'reply', isFirst)
      const order = stage.order({ receiver })
      stage.place(order, one)
      await stage.runOut()
      late.letGo()
      await stage.end()
      stage.expect(stage.payments()[0]?.state === 'completed', 'the retry is answered')
    },
    without: [
      {
        what: 'that no answer is no refusal',
        edits: [
          {
            file: DELIVER,
            find: "if (credited.outcome === 'unknown') return { outcome: 'stalled', reason: credited.reason }\n",
            put: '',
          },
          { file: DELIVER, find: "if (credited.outcome === 'refused')", put: "if (credited.outcome !== 'done')" },
        ],
        finds: /the lines of/,
      },
    ],
  },
  {
    name: 'a ledger answers every call after its deadline only',
    shape: { ledgerPause: 8_000 },
    async play(stage) {
      const one = stage.start()
      const receiver = await stage.incoming({})
      for (const key of [undefined, 'key', undefined]) stage.place(stage.order({ receiver, ...(key && { key }) }), one)
      await stage.runOut()
      await stage.end()
      const states = stage.payments().map(({ state }) => state)
      stage.expect(states.length === 3 && states.every((state) => state === 'completed'), `they end ${states}`)
    },
    without: [
      {
        what: 'that a late answer is used by the next try',
        edits: [
          {
            file: 'src/payments/ask-ledger.ts',
            find: 'return Promise.race([...earlier.map(untilAnswered), begun])',
            put: 'return begun',
          },
        ],
        finds: /never came to an end/,
      },
    ],
  },
  {
    name: 'a hold takes effect after its retry was refused',
    async play(stage) {
      const one = stage.start()
      const receiver = await stage.incoming()
      const isFirst = (call: object): boolean => call === stage.calls.find(named('hold'))
      const late = stage.keepBack(one, 'effect', isFirst)
      const order = stage.order({ receiver })
      const answer = stage.place(order, one)
      await stage.untilCalled(named('hold'))
      await stage.world.ledger.setPermissions('alice', CLOSED)
      const told = await stage.until(answer)
      stage.expect(told?.status === 201, `nobody knows of the hold, so the payment is there: ${told?.status}`)
      await stage.runOut()
      await stage.world.ledger.setPermissions('alice', OPEN)
      late.letGo()
      await stage.end()
      stage.expect(stage.payments()[0]?.state === 'failed', 'it fails')
    },
    without: [
      {
        what: 'the one id of all its tries',
        edits: [
          {
            file: HOLD,
            find: 'context.ledger.hold({\n      id: payment.id,',
            put: 'context.ledger.hold({\n      id: payment.id.slice(0, 30) + String(context.clock.now()).slice(-2),',
          },
        ],
        finds: /not what is committed/,
      },
      {
        what: 'that no answer is no refusal',
        edits: [
          {
            file: HOLD,
            find: "if (asked.outcome === 'unknown') return { outcome: 'unknown', record, reason: asked.reason }",
            put: "if (asked.outcome === 'unknown') return refusePayment(context, record.value, 'not_allowed', by)",
          },
        ],
        finds: /took effect while its payment was refused|answered with/,
      },
      {
        what: 'that what was answered with 201 is not undone',
        edits: [
          {
            file: HOLD,
            find: "record.isListed === true || (by === 'recovery'",
            put: "record.isListed !== true && (by === 'recovery'",
          },
        ],
        finds: /shown no more|listed|answered with/,
      },
    ],
  },
  {
    name: 'a ledger forgets that it refused a hold, and the hold arrives again',
    alterLedger: (ledger) => ({
      ...ledger,
      hold: async (hold) => {
        const open = (await ledger.account(hold.account))?.canSend === true
        return open ? ledger.hold(hold) : { ok: false, reason: 'account_closed' }
      },
    }),
    async play(stage) {
      const one = stage.start()
      const receiver = await stage.incoming()
      const isFirst = (call: object): boolean => call === stage.calls.find(named('hold'))
      const late = stage.keepBack(one, 'effect', isFirst)
      stage.place(stage.order({ receiver }), one)
      await stage.untilCalled(named('hold'))
      await stage.world.ledger.setPermissions('alice', CLOSED)
      await stage.runOut()
      await stage.world.ledger.setPermissions('alice', OPEN)
      late.letGo()
    },
    without: [],
    finds: /hold .* took effect|still held|conflict/,
  },
  {
    name: 'a repeat hears of the refusal first, and the first request of nothing',
    async play(stage) {
      const [one, other] = [stage.start(), stage.start()]
      const receiver = await stage.incoming()
      const order = stage.order({ receiver, key: 'key' })
      const silent = stage.keepBack(one, 'reply', named('hold'))
      const first = stage.place(order, one)
      await stage.untilCalled(named('hold'))
      await stage.world.ledger.setPermissions('alice', CLOSED)
      const second = await stage.until(stage.place(order, other))
      stage.expect(second?.status === 403, `the repeat is refused: ${second?.status}`)
      const answer = await stage.until(first)
      stage.expect(answer?.status === 403, `the first request is refused: ${answer?.status}`)
      silent.letGo()
    },
    without: [
      {
        what: 'the look at what a repeat has undone',
        edits: [
          {
            file: CREATE,
            find: "if (state === 'refused') return { answer: { outcome: 'refused', reason: refusalOf(decision) } }\n",
            put: '',
          },
        ],
        finds: /went from refused|refused/,
      },
    ],
  },
  {
    name: 'the room for a credit goes to another payment',
    async play(stage) {
      const [one, other] = [stage.start(), stage.start()]
      const receiver = await stage.incoming({ incomingAmount: usd(60) })
      const reserves = [one, other].map((process) => stage.keepBack(process, 'effect', commitsKind('receipt')))
      stage.place(stage.order({ receiver }), one)
      stage.place(stage.order({ receiver }), other)
      await stage.runOut()
      const credits = [one, other].map((process) => stage.keepBack(process, 'effect', named('credit')))
      for (const { letGo } of reserves) letGo()
      await stage.runOut()
      for (const { letGo } of credits) letGo()
      await stage.end()
      const states = stage.payments().map(({ state }) => state)
      stage.expect(states.toSorted().join() === 'completed,failed', `one is paid: ${states}`)
    },
    without: [
      {
        what: 'the reservation before the credit',
        edits: [
          {
            file: HOLD,
            find: 'const taken = incoming && takeRoom(',
            put: `await context.ledger.credit({
                id: await creditIdOf(context, known.value.id),
                account: known.value.payeeAccount,
                amount: known.value.receiveAmount,
                counterparty: { kind: 'local', account: known.value.account, incomingPayment: known.value.incomingPaymentId },
              })
              const taken = incoming && takeRoom(`,
          },
        ],
        finds: /not what is committed/,
      },
      {
        what: 'what is reserved, in what is left',
        edits: [
          {
            file: 'src/protocol/incoming-payment.ts',
            find: 'const taken = payment.received.value + payment.reserved.value',
            put: 'const taken = payment.received.value',
          },
        ],
        finds: /4: .* takes/,
      },
    ],
  },
]
