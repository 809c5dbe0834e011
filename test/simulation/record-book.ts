import type { RecordKind, RecordTypes, StoredRecord } from 'open-payments-server'
import { creditIdOf } from './payment-facts.ts'
import type { SimulatedStorage, Write } from './simulated-storage.ts'

/** The stored records, and which of them belong together. */
export interface RecordBook {
  find<K extends RecordKind>(kind: K, id: string): RecordTypes[K] | undefined
  /** Takes note of a record that is new, or was there from the start. */
  learn(record: StoredRecord): void
  readonly payments: Record<'ofGrant' | 'ofQuote' | 'ofSpending' | 'ofRailAccount', Members<'outgoing-payment'>>
  readonly tokensOfGrant: Members<'access-token'>
  readonly receiptsOf: Members<'receipt'>
  readonly receiptsOfRailAccount: Members<'receipt'>
  tokenOfManagement(manageId: string): RecordTypes['access-token'] | undefined
  paymentOfCredit(creditId: string): RecordTypes['outgoing-payment'] | undefined
}

/** The records of one kind that name an id. */
type Members<K extends RecordKind> = (id: string) => readonly RecordTypes[K][]

function createIndex(): { add(key: string, id: string): void; of(key: string): readonly string[] } {
  const groups = new Map<string, Set<string>>()
  return {
    add: (key, id) => void groups.set(key, (groups.get(key) ?? new Set()).add(id)),
    of: (key) => [...(groups.get(key) ?? [])],
  }
}

export function createRecordBook(storage: () => SimulatedStorage): RecordBook {
  const byGrant = createIndex()
  const byQuote = createIndex()
  const bySpending = createIndex()
  const byRailAccount = createIndex()
  const receiptsByRailAccount = createIndex()
  const tokens = createIndex()
  const receipts = createIndex()
  const managed = new Map<string, string>()
  const credits = new Map<string, string>()
  const find = <K extends RecordKind>(kind: K, id: string): RecordTypes[K] | undefined =>
    storage().find(kind, id)?.value
  const members =
    <K extends RecordKind>(kind: K, index: ReturnType<typeof createIndex>): Members<K> =>
    (id) =>
      index.of(id).flatMap((one) => find(kind, one) ?? [])
  return {
    find,
    learn({ kind, value }) {
      if (kind === 'outgoing-payment') {
        const { id, grantId, quoteId, spendingIds, rail } = value as RecordTypes['outgoing-payment']
        credits.set(creditIdOf(id), id)
        byGrant.add(grantId, id)
        if (quoteId !== undefined) byQuote.add(quoteId, id)
        for (const spendingId of spendingIds) bySpending.add(spendingId, id)
        if (rail !== undefined) byRailAccount.add(`${rail.method}:${rail.account}`, id)
      }
      if (kind === 'access-token') {
        const { id, grantId, manageId } = value as RecordTypes['access-token']
        tokens.add(grantId, id)
        managed.set(manageId, id)
      }
      if (kind === 'receipt') {
        const { id, incomingPaymentId, railAccountId } = value as RecordTypes['receipt']
        receipts.add(incomingPaymentId, id)
        if (railAccountId !== undefined) receiptsByRailAccount.add(railAccountId, id)
      }
    },
    payments: {
      ofGrant: members('outgoing-payment', byGrant),
      ofQuote: members('outgoing-payment', byQuote),
      ofSpending: members('outgoing-payment', bySpending),
      ofRailAccount: members('outgoing-payment', byRailAccount),
    },
    tokensOfGrant: members('access-token', tokens),
    receiptsOf: members('receipt', receipts),
    receiptsOfRailAccount: members('receipt', receiptsByRailAccount),
    tokenOfManagement: (manageId) => find('access-token', managed.get(manageId) ?? ''),
    paymentOfCredit: (creditId) => find('outgoing-payment', credits.get(creditId) ?? ''),
  }
}

/** The records of one kind that a commit made. */
export function insertedOf<K extends RecordKind>(writes: readonly Write[], kind: K): readonly RecordTypes[K][] {
  return writes.flatMap(({ before, after }) =>
    before === undefined && after?.kind === kind ? [after.value as RecordTypes[K]] : [],
  )
}
