import { describeContract } from './postgres-contract.ts'
import { useDatabases } from './postgres-databases.ts'

const databases = useDatabases()
const { openPool } = databases

describeContract(databases, {
  'pg, serializable': (schema) => [openPool(schema, { default_transaction_isolation: 'serializable' })],
  'pg, two pools, one of them repeatable read': (schema) => [
    openPool(schema),
    openPool(schema, { default_transaction_isolation: 'repeatable read' }),
  ],
})
