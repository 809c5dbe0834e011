import {
  type Account,
  AccountFilterFlags,
  AccountFlags,
  amount_max,
  type Client,
  CreateAccountStatus,
  CreateTransferStatus,
  type Transfer,
  TransferFlags,
} from 'tigerbeetle-node'
import { describe, expect, it } from 'vitest'
import { fakeTigerBeetle } from './tigerbeetle-fake.ts'

// What the documentation of TigerBeetle says, by the names that it gives the results.

const ACCOUNT: Account = {
  ...{ id: 0n, debits_pending: 0n, debits_posted: 0n, credits_pending: 0n, credits_posted: 0n, timestamp: 0n },
  ...{ user_data_128: 0n, user_data_64: 0n, user_data_32: 0, reserved: 0, ledger: 1, code: 1, flags: 0 },
}
const TRANSFER: Transfer = {
  ...{ id: 0n, debit_account_id: 1n, credit_account_id: 2n, amount: 10n, pending_id: 0n, ledger: 1, code: 1, flags: 0 },
  ...{ user_data_128: 0n, user_data_64: 0n, user_data_32: 0, timeout: 0, timestamp: 0n },
}
const { pending, linked, post_pending_transfer, void_pending_transfer, closing_debit, closing_credit } = TransferFlags
const END = { ...TRANSFER, debit_account_id: 0n, credit_account_id: 0n, ledger: 0, code: 0 }
const POST = { ...END, flags: post_pending_transfer, pending_id: 100n }
const VOID = { ...END, flags: void_pending_transfer, pending_id: 100n, amount: 0n }

/**
 * Accounts 1 and 2 are free; 3 may not be debited beyond its credits, of which it has 50; 4 may not be credited beyond
 * its debits; 5 is on another ledger. Transfer 100 is pending, 10 from 1 to 2.
 */
async function openCluster(): Promise<Client> {
  const client = fakeTigerBeetle().connect()
  await client.createAccounts([
    { ...ACCOUNT, id: 1n },
    { ...ACCOUNT, id: 2n },
    { ...ACCOUNT, id: 3n, flags: AccountFlags.debits_must_not_exceed_credits },
    { ...ACCOUNT, id: 4n, flags: AccountFlags.credits_must_not_exceed_debits },
    { ...ACCOUNT, id: 5n, ledger: 2 },
  ])
  await client.createTransfers([
    { ...TRANSFER, id: 99n, credit_account_id: 3n, amount: 50n },
    { ...TRANSFER, id: 100n, flags: pending },
  ])
  return client
}

async function statusesOf(client: Client, ...batch: readonly Partial<Transfer>[]): Promise<readonly string[]> {
  const results = await client.createTransfers(batch.map((transfer) => ({ ...TRANSFER, ...transfer })))
  return results.map(({ status }) => CreateTransferStatus[status])
}

async function balances(client: Client, id: bigint): Promise<readonly bigint[]> {
  const [account = ACCOUNT] = await client.lookupAccounts([id])
  return [account.debits_pending, account.debits_posted, account.credits_pending, account.credits_posted]
}

describe('create_transfers', () => {
  // In the order of the reference. Each breaks the rule of its line, and most a later one too.
  const FIRST: readonly (readonly [keyof typeof CreateTransferStatus, Partial<Transfer>])[] = [
    ['linked_event_chain_open', { id: 1n, flags: linked, timestamp: 1n }],
    ['timestamp_must_be_zero', { id: 0n, timestamp: 1n }],
    ['reserved_flag', { id: 0n, flags: 512 }],
    ['id_must_not_be_zero', { id: 0n, ledger: 0 }],
    ['id_must_not_be_int_max', { id: amount_max, ledger: 0 }],
    ['exists_with_different_flags', { id: 100n, amount: 9n }],
    ['flags_are_mutually_exclusive', { ...POST, id: 1n, flags: post_pending_transfer | pending, pending_id: 0n }],
    ['flags_are_mutually_exclusive', { ...POST, id: 1n, flags: post_pending_transfer | void_pending_transfer }],
    ['flags_are_mutually_exclusive', { ...VOID, id: 1n, flags: void_pending_transfer | closing_debit }],
    ['debit_account_id_must_not_be_zero', { id: 1n, debit_account_id: 0n, credit_account_id: 0n }],
    ['debit_account_id_must_not_be_int_max', { id: 1n, debit_account_id: amount_max, credit_account_id: 0n }],
    ['credit_account_id_must_not_be_zero', { id: 1n, credit_account_id: 0n, pending_id: 7n }],
    ['credit_account_id_must_not_be_int_max', { id: 1n, credit_account_id: amount_max, pending_id: 7n }],
    ['accounts_must_be_different', { id: 1n, credit_account_id: 1n, pending_id: 7n }],
    ['pending_id_must_be_zero', { id: 1n, pending_id: 7n, timeout: 1 }],
    ['pending_id_must_not_be_zero', { ...POST, id: 1n, pending_id: 0n, timeout: 1 }],
    ['pending_id_must_not_be_int_max', { ...POST, id: 1n, pending_id: amount_max, timeout: 1 }],
    ['pending_id_must_be_different', { ...POST, id: 1n, pending_id: 1n, timeout: 1 }],
    ['timeout_reserved_for_pending_transfer', { id: 1n, timeout: 1, flags: closing_debit }],
    ['timeout_reserved_for_pending_transfer', { ...POST, id: 1n, timeout: 1, pending_id: 7n }],
    ['closing_transfer_must_be_pending', { id: 1n, flags: closing_debit, ledger: 0 }],
    ['closing_transfer_must_be_pending', { id: 1n, flags: closing_credit, ledger: 0 }],
    ['ledger_must_not_be_zero', { id: 1n, ledger: 0, code: 0 }],
    ['code_must_not_be_zero', { id: 1n, code: 0, debit_account_id: 77n }],
    ['debit_account_not_found', { id: 1n, debit_account_id: 77n, credit_account_id: 78n }],
    ['credit_account_not_found', { id: 1n, credit_account_id: 78n, ledger: 9 }],
    ['accounts_must_have_the_same_ledger', { id: 1n, credit_account_id: 5n, ledger: 9 }],
    ['transfer_must_have_the_same_ledger_as_accounts', { id: 1n, ledger: 9 }],
    ['pending_transfer_not_found', { ...POST, id: 1n, pending_id: 77n, ledger: 9 }],
    ['pending_transfer_not_pending', { ...POST, id: 1n, pending_id: 99n, ledger: 9 }],
    [
      'pending_transfer_has_different_debit_account_id',
      { ...POST, id: 1n, debit_account_id: 2n, credit_account_id: 1n },
    ],
    ['pending_transfer_has_different_credit_account_id', { ...POST, id: 1n, credit_account_id: 1n, ledger: 9 }],
    ['pending_transfer_has_different_ledger', { ...POST, id: 1n, ledger: 9, code: 9 }],
    ['pending_transfer_has_different_code', { ...POST, id: 1n, code: 9, amount: 11n }],
    ['exceeds_pending_transfer_amount', { ...POST, id: 1n, amount: 11n }],
    ['exceeds_pending_transfer_amount', { ...VOID, id: 1n, amount: 11n }],
    ['pending_transfer_has_different_amount', { ...VOID, id: 1n, amount: 9n }],
    ['overflows_debits_pending', { id: 1n, flags: pending, amount: amount_max }],
    ['overflows_credits_pending', { id: 1n, debit_account_id: 3n, flags: pending, amount: amount_max }],
    ['overflows_debits_posted', { id: 1n, amount: amount_max }],
    ['overflows_credits_posted', { id: 1n, debit_account_id: 2n, credit_account_id: 3n, amount: amount_max }],
    ['overflows_debits', { id: 1n, amount: amount_max - 50n }],
    ['overflows_credits', { id: 1n, debit_account_id: 3n, amount: amount_max - 5n }],
    ['exceeds_credits', { id: 1n, debit_account_id: 3n, amount: 51n }],
    ['exceeds_debits', { id: 1n, credit_account_id: 4n, amount: 1n }],
    ['created', { id: 1n, amount: 0n }],
  ]
  it.each(FIRST)('%s', async (status, transfer) => {
    const client = await openCluster()
    const accounts = await client.lookupAccounts([1n, 2n, 3n, 4n])
    expect(await statusesOf(client, transfer)).toEqual([status])
    if (status !== 'created') expect(await client.lookupAccounts([1n, 2n, 3n, 4n])).toEqual(accounts)
  })

  it('exists: a repeat differs in the first field of the reference that differs', async () => {
    const client = await openCluster()
    const made = { ...TRANSFER, id: 1n, user_data_128: 1n, user_data_64: 2n, user_data_32: 3 }
    expect(await statusesOf(client, made, made)).toEqual(['created', 'exists'])
    const others: Readonly<Partial<Record<keyof Transfer, Partial<Transfer>>>> = {
      flags: { flags: pending },
      pending_id: { pending_id: 100n },
      timeout: { timeout: 1 },
      debit_account_id: { debit_account_id: 2n },
      credit_account_id: { credit_account_id: 3n },
      amount: { amount: 9n },
      user_data_128: { user_data_128: 9n },
      user_data_64: { user_data_64: 9n },
      user_data_32: { user_data_32: 9 },
      ledger: { ledger: 9 },
      code: { code: 9 },
    }
    let all: Partial<Transfer> = {}
    for (const [field, other] of Object.entries(others).toReversed()) {
      all = { ...all, ...other }
      expect(await statusesOf(client, { ...made, ...other }, { ...made, ...all })).toEqual([
        `exists_with_different_${field}`,
        `exists_with_different_${field}`,
      ])
    }
    expect(await balances(client, 2n)).toEqual([0n, 0n, 10n, 10n])
  })

  it('exists: what a post or void leaves out is what the pending transfer has', async () => {
    const client = await openCluster()
    expect(await statusesOf(client, { ...POST, id: 1n, amount: amount_max })).toEqual(['created'])
    const whole = { ...POST, id: 1n, debit_account_id: 1n, credit_account_id: 2n, ledger: 1, code: 1 }
    expect(await statusesOf(client, whole, { ...whole, amount: 9n })).toEqual([
      'exists',
      'exists_with_different_amount',
    ])
    expect(await statusesOf(client, { id: 200n, flags: pending })).toEqual(['created'])
    const part = { ...POST, id: 2n, pending_id: 200n, amount: 7n }
    expect(await statusesOf(client, part, part)).toEqual(['created', 'exists'])
    for (const amount of [6n, 8n, 10n, amount_max]) {
      expect(await statusesOf(client, { ...part, amount })).toEqual(['exists_with_different_amount'])
    }
    expect(await statusesOf(client, { ...part, user_data_64: 1n })).toEqual(['exists_with_different_user_data_64'])
    expect(await statusesOf(client, { id: 300n, flags: pending })).toEqual(['created'])
    const voided = { ...VOID, id: 3n, pending_id: 300n }
    expect(await statusesOf(client, voided, voided, { ...voided, amount: 10n })).toEqual([
      'created',
      'exists',
      'exists',
    ])
  })

  it.each([
    ['debit_account_not_found', { debit_account_id: 77n }],
    ['credit_account_not_found', { credit_account_id: 77n }],
    ['pending_transfer_not_found', { ...POST, pending_id: 77n }],
    ['exceeds_credits', { debit_account_id: 3n, amount: 51n }],
    ['exceeds_debits', { credit_account_id: 4n }],
    ['debit_account_already_closed', { debit_account_id: 6n }],
    ['credit_account_already_closed', { credit_account_id: 6n }],
  ])(
    'id_already_failed: %s is transient, and its id fails from then on, whatever is asked',
    async (status, transfer) => {
      const client = await openCluster()
      await client.createAccounts([{ ...ACCOUNT, id: 6n }])
      await statusesOf(client, { id: 600n, debit_account_id: 6n, amount: 0n, flags: pending | closing_debit })
      expect(await statusesOf(client, { ...transfer, id: 1n })).toEqual([status])
      expect(await statusesOf(client, { ...transfer, id: 1n }, { id: 1n })).toEqual([
        'id_already_failed',
        'id_already_failed',
      ])
      expect(await client.lookupTransfers([1n])).toEqual([])
    },
  )

  it('id_already_failed: a malformed transfer leaves its id usable', async () => {
    const client = await openCluster()
    const malformed = [{ code: 0 }, { ledger: 9 }, { credit_account_id: 5n }, { credit_account_id: 1n }]
    for (const one of malformed) expect(await statusesOf(client, { id: 1n, ...one })).not.toEqual(['created'])
    expect(await statusesOf(client, { id: 1n })).toEqual(['created'])
  })

  it('knows no timeouts, balancing or imported transfers, and no fields that do not fit', async () => {
    const client = await openCluster()
    const flags = [TransferFlags.balancing_debit, TransferFlags.balancing_credit, TransferFlags.imported]
    for (const flag of flags)
      await expect(statusesOf(client, { id: 1n, flags: flag })).rejects.toThrow('the fake knows')
    await expect(statusesOf(client, { id: 1n, flags: pending, timeout: 1 })).rejects.toThrow('no timeouts')
    await expect(statusesOf(client, { id: 1n, amount: -1n })).rejects.toThrow(RangeError)
    await expect(statusesOf(client, { id: 1n, user_data_64: 2n ** 64n })).rejects.toThrow(RangeError)
  })
})

describe('two-phase transfers', () => {
  it('reserve on both sides, and count as debited but not yet as credited', async () => {
    const client = await openCluster()
    expect([await balances(client, 1n), await balances(client, 2n)]).toEqual([
      [10n, 50n, 0n, 0n],
      [0n, 0n, 10n, 0n],
    ])
    expect(await statusesOf(client, { id: 1n, debit_account_id: 3n, amount: 50n, flags: pending })).toEqual(['created'])
    expect(await statusesOf(client, { id: 2n, debit_account_id: 3n, amount: 1n })).toEqual(['exceeds_credits'])
    expect(await statusesOf(client, { id: 3n, credit_account_id: 3n, amount: 5n, flags: pending })).toEqual(['created'])
    expect(await statusesOf(client, { id: 4n, debit_account_id: 3n, amount: 1n })).toEqual(['exceeds_credits'])
  })

  it('post a part and restore the rest, once', async () => {
    const client = await openCluster()
    expect(await statusesOf(client, { ...POST, id: 1n, amount: 7n })).toEqual(['created'])
    expect([await balances(client, 1n), await balances(client, 2n)]).toEqual([
      [0n, 57n, 0n, 0n],
      [0n, 0n, 0n, 7n],
    ])
    expect(await statusesOf(client, { ...POST, id: 2n }, { ...VOID, id: 3n })).toEqual([
      'pending_transfer_already_posted',
      'pending_transfer_already_posted',
    ])
    expect(await client.lookupTransfers([1n])).toMatchObject([
      { debit_account_id: 1n, credit_account_id: 2n, amount: 7n, ledger: 1, code: 1 },
    ])
  })

  it('void all of it, once', async () => {
    const client = await openCluster()
    expect(await statusesOf(client, { ...VOID, id: 1n })).toEqual(['created'])
    expect([await balances(client, 1n), await balances(client, 2n)]).toEqual([
      [0n, 50n, 0n, 0n],
      [0n, 0n, 0n, 0n],
    ])
    expect(await statusesOf(client, { ...VOID, id: 2n }, { ...POST, id: 3n })).toEqual([
      'pending_transfer_already_voided',
      'pending_transfer_already_voided',
    ])
  })

  it('are voided but not posted where an account is closed, and reopen what they have closed', async () => {
    const client = await openCluster()
    const closing = { id: 200n, amount: 0n, flags: pending | closing_debit | closing_credit }
    expect(await statusesOf(client, closing, { id: 1n }, { ...POST, id: 2n })).toEqual([
      'created',
      'debit_account_already_closed',
      'debit_account_already_closed',
    ])
    expect((await client.lookupAccounts([1n, 2n])).map(({ flags }) => flags)).toEqual([32, 32])
    expect(await statusesOf(client, { ...VOID, id: 3n }, { ...VOID, id: 4n, pending_id: 200n }, { id: 5n })).toEqual([
      'created',
      'created',
      'created',
    ])
    expect((await client.lookupAccounts([1n, 2n])).map(({ flags }) => flags)).toEqual([0, 0])
  })
})

describe('get_account_transfers', () => {
  it('answers the transfers of an account on the sides that are asked for, oldest first, and no more than asked', async () => {
    const client = await openCluster()
    await statusesOf(client, { id: 1n, debit_account_id: 2n, credit_account_id: 1n }, { ...POST, id: 2n })
    const none = { user_data_128: 0n, user_data_64: 0n, user_data_32: 0, code: 0, timestamp_min: 0n, timestamp_max: 0n }
    const ask = async (account_id: bigint, flags: AccountFilterFlags, limit = 10) =>
      (await client.getAccountTransfers({ ...none, account_id, flags, limit })).map(({ id }) => id)
    const { debits, credits } = AccountFilterFlags
    expect(await ask(1n, debits)).toEqual([99n, 100n, 2n])
    expect(await ask(1n, credits)).toEqual([1n])
    expect(await ask(1n, debits | credits)).toEqual([99n, 100n, 1n, 2n])
    expect(await ask(1n, debits | credits, 2)).toEqual([99n, 100n])
    expect(await ask(5n, debits | credits)).toEqual([])
  })
})

describe('linked events', () => {
  it('happen together or not at all, and see each other in between', async () => {
    const client = await openCluster()
    const fund = { id: 1n, credit_account_id: 3n, amount: 5n, flags: linked }
    const spend = { id: 2n, debit_account_id: 3n, amount: 55n }
    expect(await statusesOf(client, fund, spend)).toEqual(['created', 'created'])
    expect(await statusesOf(client, { ...fund, id: 3n }, { ...spend, id: 4n, amount: 6n }, { id: 5n })).toEqual([
      'linked_event_failed',
      'exceeds_credits',
      'created',
    ])
    expect(await client.lookupTransfers([3n, 4n])).toEqual([])
    expect(await balances(client, 3n)).toEqual([0n, 55n, 0n, 55n])
  })

  it('fail with the status of the first that failed, whose id alone is used up', async () => {
    const client = await openCluster()
    const chain = [{ id: 1n, flags: linked }, { id: 2n, debit_account_id: 77n, flags: linked }, { id: 3n }]
    expect(await statusesOf(client, ...chain)).toEqual([
      'linked_event_failed',
      'debit_account_not_found',
      'linked_event_failed',
    ])
    expect(await statusesOf(client, { id: 1n }, { id: 2n }, { id: 3n })).toEqual([
      'created',
      'id_already_failed',
      'created',
    ])
  })

  it('say exists for the first that is there already', async () => {
    const client = await openCluster()
    const chain = [
      { id: 1n, flags: linked },
      { ...POST, id: 2n },
    ]
    expect(await statusesOf(client, ...chain)).toEqual(['created', 'created'])
    expect(await statusesOf(client, ...chain)).toEqual(['exists', 'linked_event_failed'])
  })
})

describe('create_accounts', () => {
  const made = { ...ACCOUNT, id: 7n }
  it.each<readonly [keyof typeof CreateAccountStatus, Account]>([
    ['timestamp_must_be_zero', { ...ACCOUNT, timestamp: 1n }],
    ['reserved_field', { ...ACCOUNT, reserved: 1 }],
    ['id_must_not_be_zero', { ...ACCOUNT, ledger: 0 }],
    ['id_must_not_be_int_max', { ...ACCOUNT, id: amount_max, ledger: 0 }],
    ['exists_with_different_flags', { ...ACCOUNT, id: 3n, ledger: 9 }],
    ['exists_with_different_ledger', { ...ACCOUNT, id: 1n, ledger: 9, code: 9 }],
    ['exists_with_different_code', { ...ACCOUNT, id: 1n, code: 9 }],
    ['exists', { ...ACCOUNT, id: 1n }],
    ['flags_are_mutually_exclusive', { ...made, flags: 6, debits_posted: 1n }],
    ['debits_pending_must_be_zero', { ...made, debits_pending: 1n, ledger: 0 }],
    ['debits_posted_must_be_zero', { ...made, debits_posted: 1n, ledger: 0 }],
    ['credits_pending_must_be_zero', { ...made, credits_pending: 1n, ledger: 0 }],
    ['credits_posted_must_be_zero', { ...made, credits_posted: 1n, ledger: 0 }],
    ['ledger_must_not_be_zero', { ...made, ledger: 0, code: 0 }],
    ['code_must_not_be_zero', { ...made, code: 0 }],
    ['created', made],
  ])('%s', async (status, account) => {
    const client = await openCluster()
    const [result] = await client.createAccounts([account])
    expect(result && CreateAccountStatus[result.status]).toBe(status)
  })
})
