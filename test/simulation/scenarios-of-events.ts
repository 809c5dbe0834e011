import type { Scenario } from './scenario.ts'
import { commitsState, LEASE, named } from './stage.ts'

/** What the host is told, and when. */
export const OF_EVENTS: readonly Scenario[] = [
  {
    name: 'a process ends before it tells what has happened',
    async play(stage) {
      const [one, other] = [stage.start(), stage.start()]
      const receiver = await stage.incoming()
      stage.keepBack(one, 'reply', commitsState('completed'))
      stage.place(stage.order({ receiver }), one)
      await stage.runOut()
      stage.world.crash(one)
      stage.world.scheduler.pass(LEASE)
      other.openPayments.recover()
    },
    without: [
      {
        what: 'the event in the commit',
        edits: [{ file: 'src/payments/finish-payment.ts', find: '...eventChanges(context, [event])', put: '' }],
        finds: /events: /,
      },
    ],
  },
  {
    name: 'a host crashes while it hears of an event',
    async play(stage) {
      const [one, other] = [stage.start(), stage.start()]
      const receiver = await stage.incoming()
      const hears = stage.keepBack(one, 'effect', named('outgoing_payment.completed'))
      stage.place(stage.order({ receiver }), one)
      await stage.untilCalled(named('outgoing_payment.completed'))
      hears.letGo()
      stage.world.plan = undefined
      stage.world.scheduler.take(({ call }) => call?.port === 'onEvent')
      stage.world.crash(one)
      stage.world.scheduler.pass(LEASE)
      other.openPayments.recover()
    },
    without: [
      {
        what: 'that an event is forgotten after it was heard',
        edits: [
          {
            file: 'src/payments/money-events.ts',
            find: `await deliverEvent(record.value.event)
        const outcome = await tryCommit(context, [deleteChange(record)], 'a delivered money event was not deleted')`,
            put: `const outcome = await tryCommit(context, [deleteChange(record)], 'a delivered money event was not deleted')
        await deliverEvent(record.value.event)`,
          },
        ],
        finds: /events: of/,
      },
    ],
  },
]
