import { describe, expect, it } from 'vitest'
import { type PostgresDatabase, postgresStorage } from '../../adapters/storage/postgres.ts'
import type { Change } from '../../src/ports/storage.ts'
import { sampleGrant, sampleInserts, sampleSpending } from '../../src/testing/sample-records.ts'
import { insertClaim, mustCommit } from '../../src/testing/storage-case.ts'
import { isCommit, useDatabases, watchStatements } from './postgres-databases.ts'

const { newSchema, openPool, openSql } = useDatabases()

describe.each<[string, (schema: string) => PostgresDatabase]>([
  ['pg', (schema) => openPool(schema)],
  ['postgres', (schema) => openSql(schema)],
])('through %s, what stays prepared', (_name, open) => {
  let made = 0
  const insertGrant = (): Change => ({ action: 'insert', kind: 'grant', value: sampleGrant(`g${made++}`) })
  const insertSpending = (): Change => ({ action: 'insert', kind: 'spending', value: sampleSpending(`s${made++}`, 1n) })
  const insertEvent = (): Change => {
    const event = sampleInserts().find(({ kind }) => kind === 'event')
    if (event?.kind !== 'event') throw new Error('no sample of an event')
    return { ...event, value: { ...event.value, id: `e${made++}` } }
  }
  const remove = (id: string): Change => ({ action: 'delete', kind: 'replay-claim', id, version: 1 })
  const several = <T>(count: number, make: (index: number) => T): readonly T[] =>
    Array.from({ length: count }, (_, index) => make(index))

  it('is the form that one order has, and none that several have, or what is swept', async () => {
    const prepared: boolean[] = []
    const tell = (text: string, isPrepared: boolean) => isCommit(text) && prepared.push(isPrepared)
    const storage = await postgresStorage(watchStatements(open(await newSchema()), tell))
    const claims = several(2, (index) => insertClaim(`c${index}`))
    const order = [insertGrant(), ...claims, ...several(2, insertSpending), ...several(2, insertEvent)]
    // More joint forms than are kept.
    const joint = several(65, (index) => several(index + 2, insertGrant))
    const swept = claims.map((_, index) => remove(`c${index}`))
    for (const changes of [...joint, order, swept, [insertGrant()]]) await mustCommit(storage, ...changes)
    expect(prepared).toEqual([...joint.map(() => false), true, false, true])
  })
})
