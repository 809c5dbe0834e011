import {
  type AccountFilter,
  AccountFilterFlags,
  type Client,
  CreateTransferStatus,
  type Transfer,
  TransferFlags,
} from 'tigerbeetle-node'
import { type Cluster, createAccount, createTransfer, TRANSIENT } from './tigerbeetle-rules.ts'

/** A cluster in memory. */
export interface FakeTigerBeetle {
  /** A client of its own, as each process has one. */
  connect(): Client
}

/**
 * A TigerBeetle that does what its documentation says, as far as a ledger with two-phase transfers asks for it; for the
 * rest it throws. A request runs alone and whole, as in the cluster. `turn` decides when it arrives, and when its answer
 * does.
 */
export function fakeTigerBeetle(turn: () => Promise<void> = async () => undefined): FakeTigerBeetle {
  let cluster: Cluster = { accounts: new Map(), transfers: new Map(), resolved: new Map() }
  // Not of the cluster's state that a chain rolls back: an id that failed has failed.
  const failed = new Set<bigint>()
  let clock = 0n

  const request = async <T>(work: () => T): Promise<T> => {
    await turn()
    const answer = work()
    await turn()
    return answer
  }

  /** "These chains of events will all succeed or fail together" (linked events). */
  const createChain = (chain: readonly Transfer[]): readonly CreateTransferStatus[] => {
    const before: Cluster = {
      accounts: new Map(cluster.accounts),
      transfers: new Map(cluster.transfers),
      resolved: new Map(cluster.resolved),
    }
    const statuses = chain.map(() => CreateTransferStatus.linked_event_failed)
    for (const [index, transfer] of chain.entries()) {
      // `linked_event_chain_open`: the last transfer of a request may never be linked to a next one.
      const isOpen = index === chain.length - 1 && isLinked(transfer)
      const status = isOpen
        ? CreateTransferStatus.linked_event_chain_open
        : createTransfer(cluster, failed, transfer, ++clock)
      statuses[index] = status
      if (status === CreateTransferStatus.created) continue
      if (TRANSIENT.has(status)) failed.add(transfer.id)
      // "The event that was the first to fail within a chain will have a unique error result. Other events in the chain
      // will have their error result set to linked_event_failed."
      cluster = before
      return statuses.map((one, place) => (place === index ? one : CreateTransferStatus.linked_event_failed))
    }
    return statuses
  }

  const unknown = async (): Promise<never> => {
    throw new Error('the fake does not know this request')
  }
  return {
    connect: () => ({
      createAccounts: (batch) =>
        request(() => batch.map((account) => ({ status: createAccount(cluster, account, ++clock), timestamp: clock }))),
      createTransfers: (batch) =>
        request(() =>
          chainsOf(batch).flatMap((chain) => createChain(chain).map((status) => ({ status, timestamp: clock }))),
        ),
      // "If no account matches an ID, no object is returned for that account" (`lookup_accounts`), and so for transfers.
      lookupAccounts: (ids) => request(() => ids.flatMap((id) => cluster.accounts.get(id) ?? [])),
      lookupTransfers: (ids) => request(() => ids.flatMap((id) => cluster.transfers.get(id) ?? [])),
      getAccountTransfers: (filter) => request(() => transfersOf(cluster, filter)),
      getAccountBalances: unknown,
      queryAccounts: unknown,
      queryTransfers: unknown,
      destroy: () => undefined,
    }),
  }
}

/** `get_account_transfers`: those that involve an account, on the sides that the flags name, in the order of their timestamps. */
function transfersOf({ transfers }: Cluster, { account_id, flags, limit }: AccountFilter): Transfer[] {
  const isOn = (side: AccountFilterFlags, id: bigint): boolean => (flags & side) !== 0 && id === account_id
  return [...transfers.values()]
    .filter(
      ({ debit_account_id, credit_account_id }) =>
        isOn(AccountFilterFlags.debits, debit_account_id) || isOn(AccountFilterFlags.credits, credit_account_id),
    )
    .slice(0, limit)
}

function isLinked({ flags }: Transfer): boolean {
  return (flags & TransferFlags.linked) !== 0
}

/** "The last event in a chain is denoted by the first Transfer without this flag" (linked events). */
function chainsOf(batch: readonly Transfer[]): readonly (readonly Transfer[])[] {
  const chains: Transfer[][] = []
  for (const [index, transfer] of batch.entries()) {
    const before = batch[index - 1]
    if (before !== undefined && isLinked(before)) chains.at(-1)?.push(transfer)
    else chains.push([transfer])
  }
  return chains
}
