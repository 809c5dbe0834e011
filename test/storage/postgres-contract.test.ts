import { describeContract } from './postgres-contract.ts'
import { useDatabases } from './postgres-databases.ts'

const databases = useDatabases()
const { openPool, openSql } = databases

// Every transaction at one level: `postgres-contract-levels.test.ts`.
describeContract(databases, {
  postgres: (schema) => [openSql(schema)],
  'pg, three pools, one of them serializable and one repeatable read': (schema) => [
    openPool(schema),
    openPool(schema, { default_transaction_isolation: 'serializable' }),
    openPool(schema, { default_transaction_isolation: 'repeatable read' }),
  ],
})
