import type { Ledger, RecordKind, Storage } from 'open-payments-server'
import { openPostgresStores, type PostgresPlace } from './postgres-stores.ts'
import { openSqliteStores, type SqlitePlace } from './sqlite-stores.ts'
import type { CallName, WatchedCalls } from './watched-calls.ts'

/** Where a wallet keeps its records and its money. */
export type Place = SqlitePlace | PostgresPlace

/** Opens storage and ledger of a process, each of its calls watched. */
export async function openWatchedStores(
  place: Place,
  calls: WatchedCalls,
): Promise<{ readonly storage: Storage; readonly ledger: Ledger }> {
  return watchPorts(
    place.kind === 'sqlite' ? await openSqliteStores(place, calls) : await openPostgresStores(place, calls),
    calls,
  )
}

function watchPorts(
  { storage, ledger }: { readonly storage: Storage; readonly ledger: Ledger },
  calls: WatchedCalls,
): { readonly storage: Storage; readonly ledger: Ledger } {
  return {
    storage: {
      get: (keys) => calls.during(nameOf('get', keys), () => storage.get(keys)),
      list: (query) => calls.during('list', () => storage.list(query)),
      due: (kind, ...query) => calls.during(kind === 'event' ? 'event' : 'due', () => storage.due(kind, ...query)),
      commit: (changes) => calls.during(nameOf('commit', changes), () => storage.commit(changes)),
    },
    ledger: {
      account: (account) => calls.during('account', () => ledger.account(account)),
      hold: (hold) => calls.during('hold', () => ledger.hold(hold)),
      settle: (settlement) => calls.during('settle', () => ledger.settle(settlement)),
      release: (release) => calls.during('release', () => ledger.release(release)),
      credit: (credit) => calls.during('credit', () => ledger.credit(credit)),
    },
  }
}

/** The delivery of events runs beside the payment that they tell of: counted apart, each has its calls in one order. */
function nameOf(name: 'get' | 'commit', about: readonly { readonly kind: RecordKind }[]): CallName {
  return about.every(({ kind }) => kind === 'event') ? 'event' : name
}
