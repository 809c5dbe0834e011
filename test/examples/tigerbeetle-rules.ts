import {
  type Account,
  AccountFlags,
  amount_max,
  CreateAccountStatus,
  CreateTransferStatus as Status,
  type Transfer,
  TransferFlags,
} from 'tigerbeetle-node'

/** What a cluster keeps. Its values are replaced and never changed, so that a copy of the maps is a snapshot. */
export interface Cluster {
  readonly accounts: Map<bigint, Account>
  readonly transfers: Map<bigint, Transfer>
  /** How pending transfers ended. Transfer, "Guarantees": a pending transfer resolves at most once. */
  readonly resolved: Map<bigint, 'posted' | 'voided'>
}

/** Whether a transfer has all of these flags. */
function has({ flags }: { readonly flags: number }, flag: TransferFlags | AccountFlags): boolean {
  return (flags & flag) === flag
}

/** The first check that fails: "Results are listed in order of descending precedence" (`create_transfers`, "Result"). */
function first<S>(checks: readonly (readonly [fails: boolean, status: S])[]): S | undefined {
  return checks.find(([fails]) => fails)?.[1]
}

/**
 * `id_already_failed`: the transient errors, which depend on the state of the database. A transfer that failed with one
 * of them "will always fail upon retry, even if the underlying issue is resolved".
 */
export const TRANSIENT: ReadonlySet<Status> = new Set([
  Status.debit_account_not_found,
  Status.credit_account_not_found,
  Status.pending_transfer_not_found,
  Status.exceeds_credits,
  Status.exceeds_debits,
  Status.debit_account_already_closed,
  Status.credit_account_already_closed,
])

/** What the fake does not play, and what the client does not send. */
function refuseTheUnknown(transfer: Transfer): void {
  const unknown = TransferFlags.balancing_debit | TransferFlags.balancing_credit | TransferFlags.imported
  if ((transfer.flags & unknown) !== 0) throw new Error('the fake knows no balancing or imported transfers')
  for (const field of [transfer.id, transfer.debit_account_id, transfer.credit_account_id, transfer.amount]) {
    // "Type is 128-bit unsigned integer" (Transfer, "Fields"): the client throws before it sends anything.
    if (field < 0n || field > amount_max) throw new RangeError('a field of 128 bits')
  }
  // "Type is 64-bit unsigned integer" (Transfer, `user_data_64`).
  if (transfer.user_data_64 < 0n || transfer.user_data_64 >= 2n ** 64n) throw new RangeError('user_data_64')
}

/** Creates a transfer, or says why not. */
export function createTransfer(cluster: Cluster, failed: ReadonlySet<bigint>, transfer: Transfer, now: bigint): Status {
  refuseTheUnknown(transfer)
  const existing = cluster.transfers.get(transfer.id)
  const early = first<Status>([
    [transfer.timestamp !== 0n, Status.timestamp_must_be_zero],
    [transfer.flags >= 2 * TransferFlags.imported, Status.reserved_flag],
    [transfer.id === 0n, Status.id_must_not_be_zero],
    [transfer.id === amount_max, Status.id_must_not_be_int_max],
  ])
  if (early !== undefined) return early
  // "exists…" stand before "id_already_failed", and both before everything about the transfer itself.
  if (existing !== undefined) return compare(cluster, transfer, existing)
  if (failed.has(transfer.id)) return Status.id_already_failed
  const ends = has(transfer, TransferFlags.post_pending_transfer) || has(transfer, TransferFlags.void_pending_transfer)
  return ends ? endPending(cluster, transfer, now) : makeTransfer(cluster, transfer, now)
}

/** `exists` and `exists_with_different_…`: for a repeat, the fields in the order of the reference. */
function compare(cluster: Cluster, transfer: Transfer, existing: Transfer): Status {
  const pending = cluster.transfers.get(existing.pending_id)
  // Posting and voiding transfers may leave fields out: "it will be automatically set to the pending transfer's".
  const isSame = (field: keyof Transfer): boolean =>
    transfer[field] === existing[field] ||
    (pending !== undefined && BigInt(transfer[field]) === 0n && existing[field] === pending[field])
  return (
    first<Status>([
      [transfer.flags !== existing.flags, Status.exists_with_different_flags],
      [transfer.pending_id !== existing.pending_id, Status.exists_with_different_pending_id],
      [transfer.timeout !== existing.timeout, Status.exists_with_different_timeout],
      [!isSame('debit_account_id'), Status.exists_with_different_debit_account_id],
      [!isSame('credit_account_id'), Status.exists_with_different_credit_account_id],
      [!isSameAmount(transfer, existing, pending), Status.exists_with_different_amount],
      [!isSame('user_data_128'), Status.exists_with_different_user_data_128],
      [!isSame('user_data_64'), Status.exists_with_different_user_data_64],
      [!isSame('user_data_32'), Status.exists_with_different_user_data_32],
      [!isSame('ledger'), Status.exists_with_different_ledger],
      [!isSame('code'), Status.exists_with_different_code],
    ]) ?? Status.exists
  )
}

function isSameAmount(transfer: Transfer, existing: Transfer, pending: Transfer | undefined): boolean {
  if (pending === undefined || transfer.amount === existing.amount) return transfer.amount === existing.amount
  // `exists`: "if the original posted amount was less than the pending amount, then the transfer amount must be equal to
  // the posted amount. Otherwise, [it] must be greater than or equal to the pending amount."
  if (has(existing, TransferFlags.post_pending_transfer))
    return existing.amount === pending.amount && transfer.amount >= pending.amount
  // `amount`: "when void_pending_transfer is set: if amount is zero, it will automatically be set".
  return transfer.amount === 0n
}

/** A single-phase or a pending transfer. */
function makeTransfer({ accounts, transfers }: Cluster, transfer: Transfer, now: bigint): Status {
  const { debit_account_id, credit_account_id, amount } = transfer
  const isPending = has(transfer, TransferFlags.pending)
  const isClosing = has(transfer, TransferFlags.closing_debit) || has(transfer, TransferFlags.closing_credit)
  const malformed = first<Status>([
    [debit_account_id === 0n, Status.debit_account_id_must_not_be_zero],
    [debit_account_id === amount_max, Status.debit_account_id_must_not_be_int_max],
    [credit_account_id === 0n, Status.credit_account_id_must_not_be_zero],
    [credit_account_id === amount_max, Status.credit_account_id_must_not_be_int_max],
    [debit_account_id === credit_account_id, Status.accounts_must_be_different],
    [transfer.pending_id !== 0n, Status.pending_id_must_be_zero],
    [transfer.timeout !== 0 && !isPending, Status.timeout_reserved_for_pending_transfer],
    [isClosing && !isPending, Status.closing_transfer_must_be_pending],
    [transfer.ledger === 0, Status.ledger_must_not_be_zero],
    [transfer.code === 0, Status.code_must_not_be_zero],
  ])
  if (malformed !== undefined) return malformed
  if (transfer.timeout !== 0) throw new Error('the fake knows no timeouts')
  const debit = accounts.get(debit_account_id)
  const credit = accounts.get(credit_account_id)
  if (debit === undefined) return Status.debit_account_not_found
  if (credit === undefined) return Status.credit_account_not_found
  const debits = debit.debits_pending + debit.debits_posted + amount
  const credits = credit.credits_pending + credit.credits_posted + amount
  const refused = first<Status>([
    [debit.ledger !== credit.ledger, Status.accounts_must_have_the_same_ledger],
    [debit.ledger !== transfer.ledger, Status.transfer_must_have_the_same_ledger_as_accounts],
    [has(debit, AccountFlags.closed), Status.debit_account_already_closed],
    [has(credit, AccountFlags.closed), Status.credit_account_already_closed],
    [isPending && debit.debits_pending + amount > amount_max, Status.overflows_debits_pending],
    [isPending && credit.credits_pending + amount > amount_max, Status.overflows_credits_pending],
    [debit.debits_posted + amount > amount_max, Status.overflows_debits_posted],
    [credit.credits_posted + amount > amount_max, Status.overflows_credits_posted],
    [debits > amount_max, Status.overflows_debits],
    [credits > amount_max, Status.overflows_credits],
    // "Pessimistic pending transfers": what is pending counts as debited, but not yet as credited.
    [has(debit, AccountFlags.debits_must_not_exceed_credits) && debits > debit.credits_posted, Status.exceeds_credits],
    [has(credit, AccountFlags.credits_must_not_exceed_debits) && credits > credit.debits_posted, Status.exceeds_debits],
  ])
  if (refused !== undefined) return refused
  transfers.set(transfer.id, { ...transfer, timestamp: now })
  // `flags.closing_debit`, `flags.closing_credit`: the account is closed if the transfer succeeds.
  const [closesDebit, closesCredit] = [
    has(transfer, TransferFlags.closing_debit),
    has(transfer, TransferFlags.closing_credit),
  ]
  accounts.set(debit.id, {
    ...debit,
    ...(isPending
      ? { debits_pending: debit.debits_pending + amount }
      : { debits_posted: debit.debits_posted + amount }),
    flags: closesDebit ? debit.flags | AccountFlags.closed : debit.flags,
  })
  accounts.set(credit.id, {
    ...credit,
    ...(isPending
      ? { credits_pending: credit.credits_pending + amount }
      : { credits_posted: credit.credits_posted + amount }),
    flags: closesCredit ? credit.flags | AccountFlags.closed : credit.flags,
  })
  return Status.created
}

/** A transfer that posts or voids a pending one ("Two-Phase Transfers"). */
function endPending({ accounts, transfers, resolved }: Cluster, transfer: Transfer, now: bigint): Status {
  const posts = has(transfer, TransferFlags.post_pending_transfer)
  const exclusive =
    TransferFlags.pending |
    TransferFlags.closing_debit |
    TransferFlags.closing_credit |
    (posts ? TransferFlags.void_pending_transfer : 0)
  const malformed = first<Status>([
    [(transfer.flags & exclusive) !== 0, Status.flags_are_mutually_exclusive],
    [transfer.pending_id === 0n, Status.pending_id_must_not_be_zero],
    [transfer.pending_id === amount_max, Status.pending_id_must_not_be_int_max],
    [transfer.pending_id === transfer.id, Status.pending_id_must_be_different],
    [transfer.timeout !== 0, Status.timeout_reserved_for_pending_transfer],
  ])
  if (malformed !== undefined) return malformed
  const pending = transfers.get(transfer.pending_id)
  if (pending === undefined) return Status.pending_transfer_not_found
  if (!has(pending, TransferFlags.pending)) return Status.pending_transfer_not_pending
  const debit = accounts.get(pending.debit_account_id)
  const credit = accounts.get(pending.credit_account_id)
  if (debit === undefined || credit === undefined) throw new Error('an account has vanished')
  const differs = (field: keyof Transfer): boolean =>
    BigInt(transfer[field]) !== 0n && transfer[field] !== pending[field]
  // `amount`: the whole pending amount for AMOUNT_MAX where it is posted, for zero where it is voided.
  const isWhole = posts ? transfer.amount === amount_max : transfer.amount === 0n
  const amount = isWhole ? pending.amount : transfer.amount
  const refused = first<Status>([
    [differs('debit_account_id'), Status.pending_transfer_has_different_debit_account_id],
    [differs('credit_account_id'), Status.pending_transfer_has_different_credit_account_id],
    [differs('ledger'), Status.pending_transfer_has_different_ledger],
    [differs('code'), Status.pending_transfer_has_different_code],
    [amount > pending.amount, Status.exceeds_pending_transfer_amount],
    [!posts && amount < pending.amount, Status.pending_transfer_has_different_amount],
    [resolved.get(pending.id) === 'posted', Status.pending_transfer_already_posted],
    [resolved.get(pending.id) === 'voided', Status.pending_transfer_already_voided],
    // Account, `flags.closed`: nothing but voiding a pending transfer is allowed.
    [posts && has(debit, AccountFlags.closed), Status.debit_account_already_closed],
    [posts && has(credit, AccountFlags.closed), Status.credit_account_already_closed],
  ])
  if (refused !== undefined) return refused
  const { debit_account_id, credit_account_id, ledger, code } = pending
  transfers.set(transfer.id, {
    ...transfer,
    ...{ debit_account_id, credit_account_id, ledger, code, amount, timestamp: now },
    user_data_128: transfer.user_data_128 || pending.user_data_128,
    user_data_64: transfer.user_data_64 || pending.user_data_64,
    user_data_32: transfer.user_data_32 || pending.user_data_32,
  })
  resolved.set(pending.id, posts ? 'posted' : 'voided')
  // "If the posted amount is less than the pending transfer's amount, then only this amount is posted, and the remainder
  // is restored to its original accounts."
  const posted = posts ? amount : 0n
  // "Close Account": "to re-open the closed account, the pending closing transfer can be voided".
  const reopens = (flag: TransferFlags): boolean => !posts && has(pending, flag)
  accounts.set(debit.id, {
    ...debit,
    debits_pending: debit.debits_pending - pending.amount,
    debits_posted: debit.debits_posted + posted,
    flags: reopens(TransferFlags.closing_debit) ? debit.flags & ~AccountFlags.closed : debit.flags,
  })
  accounts.set(credit.id, {
    ...credit,
    credits_pending: credit.credits_pending - pending.amount,
    credits_posted: credit.credits_posted + posted,
    flags: reopens(TransferFlags.closing_credit) ? credit.flags & ~AccountFlags.closed : credit.flags,
  })
  return Status.created
}

/** Creates an account, or says why not, in the order of `create_accounts`. */
export function createAccount({ accounts }: Cluster, account: Account, now: bigint): CreateAccountStatus {
  const existing = accounts.get(account.id)
  const exclusive = AccountFlags.debits_must_not_exceed_credits | AccountFlags.credits_must_not_exceed_debits
  const differs = (field: keyof Account): boolean => existing !== undefined && existing[field] !== account[field]
  const refused = first<CreateAccountStatus>([
    [account.timestamp !== 0n, CreateAccountStatus.timestamp_must_be_zero],
    [account.reserved !== 0, CreateAccountStatus.reserved_field],
    [account.id === 0n, CreateAccountStatus.id_must_not_be_zero],
    [account.id === amount_max, CreateAccountStatus.id_must_not_be_int_max],
    [differs('flags'), CreateAccountStatus.exists_with_different_flags],
    [differs('user_data_128'), CreateAccountStatus.exists_with_different_user_data_128],
    [differs('user_data_64'), CreateAccountStatus.exists_with_different_user_data_64],
    [differs('user_data_32'), CreateAccountStatus.exists_with_different_user_data_32],
    [differs('ledger'), CreateAccountStatus.exists_with_different_ledger],
    [differs('code'), CreateAccountStatus.exists_with_different_code],
    [existing !== undefined, CreateAccountStatus.exists],
    [has(account, exclusive), CreateAccountStatus.flags_are_mutually_exclusive],
    [account.debits_pending !== 0n, CreateAccountStatus.debits_pending_must_be_zero],
    [account.debits_posted !== 0n, CreateAccountStatus.debits_posted_must_be_zero],
    [account.credits_pending !== 0n, CreateAccountStatus.credits_pending_must_be_zero],
    [account.credits_posted !== 0n, CreateAccountStatus.credits_posted_must_be_zero],
    [account.ledger === 0, CreateAccountStatus.ledger_must_not_be_zero],
    [account.code === 0, CreateAccountStatus.code_must_not_be_zero],
  ])
  if (refused !== undefined) return refused
  accounts.set(account.id, { ...account, timestamp: now })
  return CreateAccountStatus.created
}
