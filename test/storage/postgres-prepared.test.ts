import { describe, expect, it } from 'vitest'
import { type PostgresDatabase, postgresStorage } from '../../adapters/storage/postgres.ts'
import type { Change } from '../../src/ports/storage.ts'
import { sampleGrant, sampleSpending } from '../../src/testing/sample-records.ts'
import { insertClaim, mustCommit } from '../../src/testing/storage-case.ts'
import { isCommit, useDatabases, watchStatements } from './postgres-databases.ts'

const { newSchema, openPool, openSql } = useDatabases()

describe.each<[string, (schema: string) => PostgresDatabase]>([
  ['pg', (schema) => openPool(schema)],
  ['postgres', (schema) => openSql(schema)],
])('through %s, what stays prepared', (_name, open) => {
  const several = <T>(count: number, make: (index: number) => T): readonly T[] =>
    Array.from({ length: count }, (_, index) => make(index))

  it('is one statement for an order and for several that share a commit, and one for all that is swept', async () => {
    const prepared = new Map<string, number>()
    const tell = (text: string, isPrepared: boolean) =>
      isCommit(text) && isPrepared && prepared.set(text, (prepared.get(text) ?? 0) + 1)
    const storage = await postgresStorage(watchStatements(open(await newSchema()), tell))
    const orderOf = (name: string): readonly Change[] => [
      { action: 'insert', kind: 'grant', value: sampleGrant(name) },
      insertClaim(name),
      insertClaim(`${name} again`),
      { action: 'insert', kind: 'spending', value: sampleSpending(name, 1n) },
    ]
    const joint = several(5, (index) => several(index + 1, (one) => orderOf(`${index} ${one}`)).flat())
    const swept = joint.map((orders) =>
      orders.flatMap((change): readonly Change[] =>
        change.kind === 'replay-claim' && 'value' in change
          ? [{ action: 'delete', kind: 'replay-claim', id: change.value.id, version: 1 }]
          : [],
      ),
    )
    for (const changes of [...joint, ...swept]) await mustCommit(storage, ...changes)
    expect([...prepared.values()]).toEqual([joint.length, swept.length])
  })
})
