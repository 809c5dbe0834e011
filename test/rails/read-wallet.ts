import type { RecordTypes } from 'open-payments-server'
import type { Balance } from 'open-payments-server/ledger/sqlite'
import type { Line, WalletBooks } from './wallet-books.ts'
import type { OfEach, WalletName } from './wallet-process/wallets.ts'
import type { World } from './world.ts'

type OutgoingPayment = RecordTypes['outgoing-payment']

/** A payment to the other wallet. */
export type RailPayment = OutgoingPayment & Required<Pick<OutgoingPayment, 'rail'>>

/** Everything that one of the wallets has written down, at rest. */
export interface WalletState {
  readonly name: WalletName
  /** All of them: there are no others than those to the other wallet. */
  readonly payments: readonly RailPayment[]
  readonly incoming: readonly RecordTypes['incoming-payment'][]
  readonly receipts: readonly RecordTypes['receipt'][]
  readonly railAccounts: readonly RecordTypes['rail-account'][]
  readonly spendings: readonly RecordTypes['spending'][]
  readonly balances: ReadonlyMap<string, Balance>
  readonly lines: readonly Line[]
  /** What its process answers when it is asked which payments wait for a word of the host. */
  readonly undecided: readonly string[]
}

/** Reads both wallets. */
export async function readWallets(world: World): Promise<OfEach<WalletState>> {
  return { north: await readWallet(world, 'north'), south: await readWallet(world, 'south') }
}

async function readWallet({ books, server }: World, name: WalletName): Promise<WalletState> {
  const own: WalletBooks = books[name]
  const payments = await own.values('outgoing-payment')
  const listed = await server(name)?.undecided()
  return {
    name,
    payments: payments.filter((payment): payment is RailPayment => payment.rail !== undefined),
    incoming: await own.values('incoming-payment'),
    receipts: await own.values('receipt'),
    railAccounts: await own.values('rail-account'),
    spendings: await own.values('spending'),
    balances: await own.balances(),
    lines: await own.lines(),
    undecided: Array.isArray(listed) ? listed.map((one) => String(Reflect.get(Object(one), 'id') ?? one)) : [],
  }
}

/** A sum of amounts. */
export function sumOf<T>(list: readonly T[], value: (item: T) => bigint): bigint {
  return list.reduce((sum, item) => sum + value(item), 0n)
}

/** What is known to have left for a payment, and what may have beside that. */
export function leftOf({ delivery }: RailPayment): { readonly sent: bigint; readonly inFlight: bigint } {
  return { sent: BigInt(delivery?.sent ?? 0), inFlight: BigInt(delivery?.inFlightSent ?? 0) }
}
