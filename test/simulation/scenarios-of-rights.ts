import { send } from './exchange.ts'
import type { Scenario } from './scenario.ts'
import { commitsKind, commitsState } from './stage.ts'

const PLAN = 'src/payments/plan-payment.ts'

/** Budgets, quotes and tokens that two requests want at once. */
export const OF_RIGHTS: readonly Scenario[] = [
  {
    name: 'two processes spend one budget',
    async play(stage) {
      const processes = [stage.start(), stage.start()]
      const receiver = await stage.incoming({})
      const commits = processes.map((process) => stage.keepBack(process, 'effect', commitsState('created')))
      const answers = processes.map((process) => stage.place(stage.order({ receiver, value: 100, grant: 1 }), process))
      await stage.runOut()
      for (const { letGo } of commits) letGo()
      const told = [
        await stage.until(answers[0] ?? Promise.resolve(undefined)),
        await stage.until(answers[1] ?? Promise.resolve(undefined)),
      ]
      const statuses = told.map((answer) => answer?.status).toSorted()
      stage.expect(statuses.join() === '201,403', `one of them is refused: ${statuses}`)
    },
    without: [
      {
        what: 'the budget in the commit of the order',
        edits: [{ file: PLAN, find: '...charged.changes,', put: '' }],
        finds: /2: .* charged to nothing/,
      },
    ],
  },
  {
    name: 'two processes use one quote',
    async play(stage) {
      const processes = [stage.start(), stage.start()]
      const receiver = await stage.incoming({})
      const quote = await stage.quote(receiver, 40)
      const commits = processes.map((process) => stage.keepBack(process, 'effect', commitsState('created')))
      for (const process of processes) stage.place(stage.order({ receiver, quote }), process)
      await stage.runOut()
      for (const { letGo } of commits) letGo()
      await stage.end()
      stage.expect(stage.payments().length === 1, `one of them pays: ${stage.payments().length}`)
    },
    without: [
      {
        what: 'the quote in the commit of the order',
        edits: [{ file: PLAN, find: '...(quote ? [useQuoteChange(quote, id)] : []),', put: '' }],
        finds: /3: /,
      },
    ],
  },
  {
    name: 'a token is revoked while an order waits',
    async play(stage) {
      const [one, other] = [stage.start(), stage.start()]
      const receiver = await stage.incoming()
      const waits = stage.keepBack(one, 'effect', commitsState('created'))
      const answer = stage.place(stage.order({ receiver }), one)
      await stage.runOut()
      const { client, token } = stage.grant()
      const revoked = await stage.until(
        send(stage.world, { client, method: 'DELETE', url: token.manage, token: token.value, via: other }),
      )
      stage.expect(revoked?.status === 204, `it is revoked: ${revoked?.status}`)
      waits.letGo()
      const told = await stage.until(answer)
      stage.expect(told?.status === 401, `the order is refused: ${told?.status}`)
    },
    without: [
      {
        what: 'the check of the token in the commit',
        edits: [
          {
            file: PLAN,
            find: "{ action: 'check', kind: 'access-token', id: token.id, version: current.version },",
            put: '',
          },
        ],
        finds: /token that is revoked/,
      },
    ],
  },
  {
    name: 'two processes rotate one token',
    async play(stage) {
      const processes = [stage.start(), stage.start()]
      const { client, token } = stage.grant()
      const commits = processes.map((process) => stage.keepBack(process, 'effect', commitsKind('access-token')))
      const asked = { client, method: 'POST', url: token.manage, token: token.value } as const
      const answers = processes.map((via) => send(stage.world, { ...asked, via, isUnique: true }))
      await stage.runOut()
      for (const { letGo } of commits) letGo()
      await stage.runOut()
      const values = (await Promise.all(answers)).map((answer) => answer?.body.access_token?.value)
      stage.expect(values[0] !== undefined && values[0] === values[1], `both are told one token: ${values}`)
    },
    without: [
      {
        what: 'that the old token ends with the commit of the new one',
        edits: [
          { file: 'src/auth-server/manage-access-token.ts', find: 'value: rotated,', put: 'value: record.value,' },
        ],
        finds: /6: /,
      },
      {
        what: 'that the second rotation gives the token of the first',
        edits: [
          {
            file: 'src/auth-server/manage-access-token.ts',
            find: "if (record.value.state === 'rotated') return { answer: await repeatRotation(context, record) }\n",
            put: '',
          },
        ],
        finds: /6: |both are told/,
      },
    ],
  },
]
