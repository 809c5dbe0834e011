import { once } from 'node:events'
import { afterAll, beforeAll, describe, expect, inject, it } from 'vitest'
import { STORAGE_MIGRATIONS } from '../../adapters/storage/sql/schema.ts'
import { type BundledProgram, bundleProgram } from '../flows/races/bundled-program.ts'
import { useDatabases } from './postgres-databases.ts'
import type { Incrementer } from './postgres-process.ts'

const { newSchema, run } = useDatabases()

let program: BundledProgram
beforeAll(async () => {
  program = await bundleProgram('test/storage/postgres-process.ts')
})
afterAll(() => program.remove())

describe.each(['read committed', 'serializable'])('four processes on one database, at %s', (isolation) => {
  it('make its tables together, and lose none of the fifty additions of each', async () => {
    const schema = await newSchema()
    const started = (['pg', 'postgres', 'pg', 'postgres'] as const).map((driver) => {
      const told: Incrementer = { driver, host: inject('postgresSocket'), schema, isolation, additions: 50 }
      return program.start(told)
    })
    // All are ready before the first one begins, so that they meet on the empty database.
    await Promise.all(started.map((child) => once(child, 'message')))
    const ended = started.map((child) => once(child, 'exit'))
    for (const child of started) child.send('go')
    expect((await Promise.all(ended)).map(([code]) => code)).toEqual([0, 0, 0, 0])
    expect(await run(schema, 'SELECT id, debit_value, version FROM op_spending')).toEqual([
      { id: 'sum', debit_value: '200', version: '200' },
    ])
    const version = STORAGE_MIGRATIONS.length
    expect(await run(schema, 'SELECT name, version FROM op_meta')).toEqual([{ name: 'storage', version }])
  })
})
