import type { Scenario } from './scenario.ts'
import type { Call } from './scheduler.ts'
import { CLOSED, commitsState, LEASE, named, once, readsKind } from './stage.ts'

const ONCE = 'src/records/decide-once.ts'
const HOLD = 'src/payments/confirm-hold.ts'
const CREATE = 'src/payments/create-payment.ts'
const DECIDE = 'src/records/decide.ts'
/** Takes the key out of what is committed with an order. */
export const NO_KEY = {
  file: ONCE,
  find: 'const keeping = key === undefined ? [] : [keepAnswerChange(context, key, effect, stale)]',
  put: 'const keeping: Change[] = []',
}

/** Commits whose outcome nobody hears. */
export const OF_COMMITS: readonly Scenario[] = [
  {
    name: 'the commit of an order happens, and its reply is lost',
    async play(stage) {
      const one = stage.start()
      const receiver = await stage.incoming()
      stage.plan = once(commitsState('created'), 'losesReply')
      const answer = await stage.until(stage.place(stage.order({ receiver }), one))
      stage.expect(answer?.status === 201, `the order is found: ${answer?.status}`)
    },
    without: [
      {
        what: 'the look at whether it happened',
        edits: [{ file: DECIDE, find: 'if (await hasHappened(context, changes, cause)) return []\n', put: '' }],
        finds: /the order is found/,
      },
    ],
  },
  {
    name: 'the commit of an order happens, and nobody can say so',
    async play(stage) {
      const [one, other] = [stage.start(), stage.start()]
      const receiver = await stage.incoming()
      const order = stage.order({ receiver, key: 'key' })
      const loses = once(commitsState('created'), 'losesReply')
      const fails = once(readsKind('outgoing-payment'), 'fails')
      stage.plan = (call) => loses(call) ?? fails(call)
      const answer = await stage.until(stage.place(order, one))
      stage.expect(answer?.status === 503, `nothing is said that is not known: ${answer?.status}`)
      const again = await stage.until(stage.place(order, other))
      stage.expect(again?.status === 201, `the repeat finds out: ${again?.status}`)
    },
    without: [
      {
        what: 'that what is unknown is not refused',
        edits: [
          {
            file: DECIDE,
            find: "throw unavailable('the outcome of a commit is unknown')",
            put: "throw invalidSignature('the commit failed')",
          },
        ],
        finds: /nothing is said that is not known/,
      },
      { what: 'the key in the commit of the order', edits: [NO_KEY], finds: /paid|not one commit/ },
    ],
  },
  {
    name: 'the commit of an order does not happen',
    async play(stage) {
      const one = stage.start()
      const receiver = await stage.incoming()
      stage.plan = once(commitsState('created'), 'fails')
      const answer = await stage.until(stage.place(stage.order({ receiver }), one))
      stage.expect(answer?.status === 503, `nothing is said that is not known: ${answer?.status}`)
      await stage.end()
      stage.expect(stage.payments().length === 0, 'nothing is paid')
    },
    without: [
      {
        what: 'the look at whether it happened',
        edits: [
          {
            file: DECIDE,
            find: 'if (await hasHappened(context, changes, cause)) return []',
            put: 'if (changes.length > 0) return []',
          },
        ],
        finds: /which is not there|vanished/,
      },
    ],
  },
  {
    name: 'the commit of an order happens after its repeat was answered',
    async play(stage) {
      const [one, other] = [stage.start(), stage.start()]
      const receiver = await stage.incoming()
      const order = stage.order({ receiver, key: 'key' })
      stage.plan = once(commitsState('created'), 'isOvertaken')
      const late = stage.keepBack(one, 'effect', commitsState('created'))
      const answer = await stage.until(stage.place(order, one))
      stage.expect(answer?.status === 503, `nothing is said that is not known: ${answer?.status}`)
      await stage.until(stage.place(order, other))
      late.letGo()
      await stage.end()
      stage.expect(stage.payments().length === 1, `it is paid once: ${stage.payments().length}`)
    },
    without: [{ what: 'the key in the commit of the order', edits: [NO_KEY], finds: /paid|not one commit/ }],
  },
  {
    name: 'a payment that was answered 201 is refused after a crash',
    async play(stage) {
      const [one, other] = [stage.start(), stage.start()]
      const receiver = await stage.incoming()
      const loses = once(named('hold'), 'isLost')
      let created = 0
      stage.plan = (call) => loses(call) ?? (commitsState('created')(call) && ++created === 2 ? 'fails' : undefined)
      const answer = stage.place(stage.order({ receiver }), one)
      await stage.untilCalled(named('hold'))
      await stage.world.ledger.setPermissions('alice', CLOSED)
      const told = await stage.until(answer)
      stage.expect(told?.status === 201, `it counts as created: ${told?.status}`)
      stage.world.crash(one)
      stage.world.scheduler.pass(LEASE)
      other.openPayments.recover()
      await stage.end()
      stage.expect(stage.payments()[0]?.state === 'failed', `it fails: ${stage.payments()[0]?.state}`)
    },
    without: [
      {
        what: 'that what was told is not undone',
        edits: [
          {
            file: HOLD,
            find: "record.isListed === true || (by === 'recovery' && record.value.keyId === undefined)",
            put: 'record.isListed === true',
          },
        ],
        finds: /answered with/,
      },
    ],
  },
  {
    name: 'a refusal is written down after its request was answered',
    async play(stage) {
      const [one, other] = [stage.start(), stage.start()]
      const receiver = await stage.incoming()
      stage.plan = once(commitsState('refused'), 'isOvertaken')
      const late = stage.keepBack(one, 'effect', commitsState('refused'))
      const answer = stage.place(stage.order({ receiver }), one)
      await stage.untilCalled(named('hold'))
      await stage.world.ledger.setPermissions('alice', CLOSED)
      const told = await stage.until(answer)
      stage.expect(told?.status === 503, `nothing is said that is not known: ${told?.status}`)
      late.letGo()
      await stage.runOut()
      stage.world.scheduler.pass(LEASE)
      other.openPayments.recover()
      await stage.end()
      stage.expect(stage.payments()[0]?.state === 'refused', `it is undone: ${stage.payments()[0]?.state}`)
    },
    without: [
      {
        what: 'that an order whose hold is refused never counts as created',
        edits: [{ file: CREATE, find: " || asked.outcome === 'refused'", put: '' }],
        finds: /answered with|said that is not known/,
      },
    ],
  },
  {
    name: 'a payment is taken up while the commit that shows it is lost',
    async play(stage) {
      const [one, other] = [stage.start(), stage.start()]
      const receiver = await stage.incoming()
      const isShow = (call: Call): boolean => call === stage.calls.filter(commitsState('created'))[1]
      const loses = once(named('hold'), 'isLost')
      stage.plan = (call) => loses(call) ?? (isShow(call) ? 'losesReply' : undefined)
      const late = stage.keepBack(one, 'effect', isShow)
      const answer = stage.place(stage.order({ receiver, key: 'key' }), one)
      await stage.untilCalled(named('hold'))
      await stage.world.ledger.setPermissions('alice', CLOSED)
      await stage.untilKept(late)
      stage.world.scheduler.pass(LEASE)
      const asks = stage.keepBack(other, 'effect', named('hold'))
      other.openPayments.recover()
      await stage.untilKept(asks)
      late.letGo()
      const told = await stage.until(answer)
      stage.expect(told?.status === 503, `nothing is said that is not known: ${told?.status}`)
      asks.letGo()
    },
    without: [
      {
        what: 'the marks by which a write is known',
        edits: [
          {
            file: 'src/records/as-committed.ts',
            find: 'record.version === version && isMarkedSo && isEqualValue',
            put: 'record.version === version && isEqualValue',
          },
        ],
        finds: /said that is not known|answered with|without its first/,
      },
    ],
  },
]
