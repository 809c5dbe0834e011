import { expect, it } from 'vitest'
import { type PgPool, postgresStorage } from '../../adapters/storage/postgres.ts'
import { sampleSpending } from '../../src/testing/sample-records.ts'
import { claim, insertClaim, mustCommit } from '../../src/testing/storage-case.ts'
import { turn } from '../support/turns.ts'
import { useDatabases, watchStatements, withQuery } from './postgres-databases.ts'

const { newSchema, openPool } = useDatabases()

/** Hands the next two answers on once both are there, in one turn of the event loop, each in a callback of its own. */
function answerTwoInOneTurn(pool: PgPool): { readonly pool: PgPool; hold(): void } {
  let isHeld = false
  const held: (() => void)[] = []
  const answerWithOther = (): Promise<void> =>
    new Promise((resolve) => {
      held.push(resolve)
      if (held.length === 2) for (const answer of held) setImmediate(answer)
    })
  return {
    pool: withQuery(pool, async (client, statement) => {
      const answer = await client.query(statement)
      if (isHeld) await answerWithOther()
      return answer
    }),
    hold: () => {
      isHeld = true
    },
  }
}

it('reads of the same kinds that are asked for in one turn share a statement', async () => {
  const statements: string[] = []
  const pool = openPool(await newSchema())
  const storage = await postgresStorage(watchStatements(pool, (text) => statements.push(text)))
  await mustCommit(storage, insertClaim('a'), insertClaim('b'))
  statements.length = 0
  const found = await Promise.all([['a'], ['b', 'a'], ['none']].map((ids) => storage.get(ids.map(claim))))
  expect(found.map((records) => records.map((record) => record?.value.id))).toEqual([['a'], ['b', 'a'], [undefined]])
  expect(statements).toHaveLength(1)
})

it('reads wait on as long as each turn brings more, and share a statement then too', async () => {
  const statements: string[] = []
  const pool = openPool(await newSchema())
  const storage = await postgresStorage(watchStatements(pool, (text) => statements.push(text)))
  await mustCommit(storage, insertClaim('a'), insertClaim('b'), insertClaim('c'))
  statements.length = 0
  const first = ['a', 'b'].map((id) => storage.get([claim(id)]))
  await turn()
  await Promise.all([...first, storage.get([claim('c')])])
  expect(statements).toHaveLength(1)
})

it('what waited for answers that arrive in one turn goes on in step', async () => {
  const { pool, hold } = answerTwoInOneTurn(openPool(await newSchema()))
  const storage = await postgresStorage(pool)
  await mustCommit(storage, insertClaim('a'), { action: 'insert', kind: 'spending', value: sampleSpending('b', 1n) })
  hold()
  const steps: string[] = []
  const read = async (kind: 'replay-claim' | 'spending', id: string): Promise<void> => {
    await storage.get([{ kind, id }])
    for (const step of [1, 2]) {
      steps.push(`${id}${step}`)
      await Promise.resolve()
    }
  }
  await Promise.all([read('replay-claim', 'a'), read('spending', 'b')])
  // Whichever was answered first.
  const [first, second] = steps[0] === 'a1' ? ['a', 'b'] : ['b', 'a']
  expect(steps).toEqual([`${first}1`, `${second}1`, `${first}2`, `${second}2`])
})
