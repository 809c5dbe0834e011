import process from 'node:process'
import { Pool } from 'pg'
import postgres from 'postgres'
import { postgresStorage } from '../../adapters/storage/postgres.ts'
import type { Storage } from '../../src/ports/storage.ts'
import { sampleSpending } from '../../src/testing/sample-records.ts'

/** What a process is told. */
export interface Incrementer {
  readonly driver: 'pg' | 'postgres'
  readonly host: string
  readonly schema: string
  readonly isolation: string
  readonly additions: number
}

const { driver, host, schema, isolation, additions }: Incrementer = JSON.parse(process.argv[2] ?? '')
const access = { host, user: 'postgres', password: 'postgres', database: 'postgres', max: 2 }
const options = `-c search_path=${schema} -c default_transaction_isolation=${isolation.replaceAll(' ', '\\ ')}`
const database =
  driver === 'pg' ? new Pool({ ...access, options }) : postgres({ ...access, connection: { options }, onnotice() {} })

async function addOne(storage: Storage): Promise<void> {
  for (;;) {
    const [record] = await storage.get([{ kind: 'spending', id: 'sum' }])
    const sum = record !== undefined && 'debit' in record.value ? record.value.debit.value : 0n
    const write = { kind: 'spending', value: sampleSpending('sum', sum + 1n) } as const
    const change =
      record === undefined
        ? ({ ...write, action: 'insert' } as const)
        : ({ ...write, action: 'replace', version: record.version } as const)
    if ((await storage.commit([change])) === 'committed') return
  }
}

process.once('message', async () => {
  const storage = await postgresStorage(database)
  for (let count = 0; count < additions; count++) await addOne(storage)
  await database.end()
  process.disconnect()
})
process.send?.('ready')
