import process from 'node:process'
import { memoryLedger } from '../../adapters/ledger/memory.ts'
import { memoryStorage } from '../../adapters/storage/memory.ts'
import { createOpenPayments, keepGoing, systemClock } from '../../src/index.ts'
import { NO_PAGE } from '../support/no-page.ts'

/** What keeps the process busy: a pause of work that runs, which it drains, or nothing but the timers of an idle server. */
export type Busy = 'work' | 'idle'

const busy: Busy = JSON.parse(process.argv[2] ?? '')
const clock = systemClock()
const storage = memoryStorage()
const openPayments = createOpenPayments({
  authServer: 'https://auth.wallet.example',
  resourceServer: 'https://wallet.example',
  secrets: ['0123456789abcdef0123456789abcdef'],
  // As while the storage is away: its socket is gone, and all there is are pauses.
  storage: { ...storage, due: (...asked) => clock.sleep(50).then(() => storage.due(...asked)) },
  ledger: memoryLedger({ accounts: [] }),
  walletAddresses: { find: async () => undefined },
  consent: NO_PAGE,
  clock,
})

keepGoing(openPayments)
if (busy === 'work') void openPayments.drain().then(() => process.send?.('drained'))
