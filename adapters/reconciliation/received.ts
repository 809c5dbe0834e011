import type { MaybePromise, ReceiptState, WireAmount } from '../../src/index.ts'
import { isObject } from '../../src/protocol/is-object.ts'

/** What came from another wallet, and was taken for a payee. */
export interface Received {
  /** The id of its credit. */
  readonly id: string
  /** `reserved` while the ledger has not answered the credit, `dropped` if it has refused it. */
  readonly state: ReceiptState
  readonly payeeAccount: string
  readonly amount: WireAmount
  /** In milliseconds since 1970. */
  readonly createdAt: number
  /** The payment method and its account with the peer, such as `ilp:g.other-wallet/USD/2`. */
  readonly railAccount: string
}

const STATES: readonly ReceiptState[] = ['reserved', 'credited', 'dropped']

const RECEIVED = `SELECT id, state, payee_account, amount_value, amount_asset_code, amount_asset_scale, created_at, rail_account_id
  FROM op_receipt WHERE payee_account IS NOT NULL`

/**
 * Reads from the tables of the library's SQLite or PostgreSQL storage what came from other wallets. `query` runs a statement
 * without parameters with the host's driver, and answers its rows as objects by column name. Rejects with a `TypeError` if
 * they are something else.
 */
export async function readReceived(
  query: (statement: string) => MaybePromise<readonly unknown[]>,
): Promise<readonly Received[]> {
  const rows = await query(RECEIVED)
  if (!Array.isArray(rows)) throw new TypeError('readReceived: query must answer a list of rows')
  return rows.map(receivedOf)
}

function receivedOf(row: unknown): Received {
  const cell = (column: string): string => {
    const found = isObject(row) ? row[column] : undefined
    if (found === undefined || found === null) throw new TypeError(`readReceived: a row has no ${column}`)
    return String(found)
  }
  const state = STATES.find((known) => known === cell('state'))
  if (state === undefined) throw new TypeError(`readReceived: ${cell('state')} is no state of a receipt`)
  return {
    id: cell('id'),
    state,
    payeeAccount: cell('payee_account'),
    amount: {
      value: cell('amount_value'),
      assetCode: cell('amount_asset_code'),
      assetScale: Number(cell('amount_asset_scale')),
    },
    createdAt: Number(cell('created_at')),
    railAccount: cell('rail_account_id'),
  }
}

/** What a host reads, by default nothing. Requires what can be compared and told to a ledger: it may be read in another way. */
export async function requireReceived(
  read: () => MaybePromise<readonly Received[]> = () => [],
): Promise<readonly Received[]> {
  const received = await read()
  if (!Array.isArray(received)) throw new TypeError('readReceived must answer a list')
  for (const [index, { id, state, payeeAccount, amount, createdAt, railAccount }] of received.entries()) {
    const texts: readonly unknown[] = [id, payeeAccount, amount?.value, amount?.assetCode, railAccount]
    const isAmount = /^\d+$/.test(amount?.value) && Number.isInteger(amount.assetScale)
    if (texts.some((text) => typeof text !== 'string') || !isAmount)
      throw new TypeError(`readReceived: [${index}] must have an id, two accounts and an amount (its value a text)`)
    if (!STATES.includes(state) || !Number.isFinite(createdAt))
      throw new TypeError(`readReceived: [${index}] must have the state of a receipt and a time (number)`)
  }
  return received
}
