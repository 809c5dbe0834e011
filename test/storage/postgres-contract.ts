import { describe, expect, it } from 'vitest'
import { type PgClient, type PostgresDatabase, postgresStorage } from '../../adapters/storage/postgres.ts'
import { inTurns } from '../../src/testing/in-turns.ts'
import type { StorageUnderTest } from '../../src/testing/storage-case.ts'
import { storageContract } from '../../src/testing/storage-contract.ts'
import { nextFailure } from '../support/next-failure.ts'
import { ODD_IDS } from './odd-ids.ts'
import { type Databases, EMPTY_TABLES } from './postgres-databases.ts'

const failure = nextFailure()

/** Whether a statement is a commit. */
const isCommit = ({ text }: { readonly text: string }): boolean => text.startsWith('WITH ')

/** A database whose commits may fail. */
function failing(database: PostgresDatabase): PostgresDatabase {
  if ('unsafe' in database)
    return {
      unsafe: (text, ...rest) => ({
        raw: () =>
          isCommit({ text })
            ? failure.commitLater(async () => database.unsafe(text, ...rest).raw())
            : database.unsafe(text, ...rest).raw(),
      }),
    }
  return {
    connect: (callback) => database.connect((error, client) => callback(error, client && failingClient(client))),
  }
}

function failingClient(client: PgClient): PgClient {
  return {
    query: (statement) =>
      isCommit(statement) ? failure.commitLater(() => client.query(statement)) : client.query(statement),
    on: (event, listener) => client.on(event, listener),
    removeListener: (event, listener) => client.removeListener(event, listener),
    release: (isBroken) => client.release(isBroken),
  }
}

/** Tests the storage contract on databases, each with one pool or several that take the calls in turn. */
export function describeContract(
  { newSchema, openPool }: Databases,
  databases: Readonly<Record<string, (schema: string) => readonly PostgresDatabase[]>>,
): void {
  describe.each(Object.entries(databases))('the storage contract on %s', (_name, open) => {
    // Made once and emptied for each case.
    const made = newSchema().then(async (schema) => {
      const stores = await Promise.all(open(schema).map((database) => postgresStorage(failing(database))))
      return { pool: openPool(schema, {}, { max: 1 }), storage: inTurns(stores) }
    })
    const makeStorage = async (): Promise<StorageUnderTest> => {
      const { pool, storage } = await made
      await pool.query(EMPTY_TABLES)
      return { ...storage, failNext: failure.failNext }
    }

    const cases = [...storageContract(), ODD_IDS]
    it.each(cases.map((oneCase) => [oneCase.name, oneCase] as const))('%s', (_case, { run }) =>
      expect(run(makeStorage)).resolves.toBeUndefined(),
    )
  })
}
