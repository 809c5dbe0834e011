import { once } from 'node:events'
import { createServer } from 'node:http'
import type { AddressInfo } from 'node:net'
import type { AuthenticatedClient } from '@interledger/open-payments'
import { createOpenPayments, type Ledger, type OpenPayments, type WalletAddress } from 'open-payments-server'
import { memoryLedger } from 'open-payments-server/ledger/memory'
import { toNodeListener } from 'open-payments-server/node'
import { memoryStorage } from 'open-payments-server/storage/memory'
import { lastSegment } from '../support/last-segment.ts'
import { createClientKey, officialClient } from './official-client.ts'

const EURO = { assetCode: 'EUR', assetScale: 2 }
const DOLLAR = { assetCode: 'USD', assetScale: 2 }
const ACCOUNTS = {
  '/alice': { account: 'alice', ...DOLLAR },
  '/chloe': { account: 'chloe', ...EURO },
  '/merchant': { account: 'merchant', ...DOLLAR },
} as const

/** What each payment costs beside the price, in the smallest unit of the payer's asset. */
export const FEE = 5n

/** A wallet over HTTP, with customers in dollars and euros and a merchant, and the official client of that merchant. */
export interface MerchantWallet {
  readonly url: string
  readonly openPayments: OpenPayments
  readonly client: AuthenticatedClient
  /** What an account has to spend, once everything that was under way has ended. */
  available(account: string): Promise<bigint>
  /** Is waited for before each credit of the ledger. */
  beforeCredit: () => Promise<void>
  setCanReceive(account: string, canReceive: boolean): Promise<void>
  /** Answers an interaction as the owner of all accounts. */
  answer(interaction: string, decision: 'approve' | 'deny'): Promise<void>
  close(): Promise<void>
}

/** Starts one on a free port. */
export async function openMerchantWallet(): Promise<MerchantWallet> {
  const server = createServer().listen(0, '127.0.0.1')
  await once(server, 'listening')
  const url = `http://localhost:${(server.address() as AddressInfo).port}`
  const key = createClientKey()
  const ledger = memoryLedger({
    accounts: Object.values(ACCOUNTS).map((account) => ({ ...account, balance: 1_000_000n })),
  })
  const directory = new Map<string, WalletAddress>(
    Object.entries(ACCOUNTS).map(([path, account]) => [url + path, account]),
  )
  directory.set(`${url}/merchant`, { ...ACCOUNTS['/merchant'], keys: [key.jwk] })
  const watched: Ledger = {
    ...ledger,
    credit: async (credit) => {
      await wallet.beforeCredit()
      return ledger.credit(credit)
    },
  }
  const openPayments = createOpenPayments({
    authServer: `${url}/auth`,
    resourceServer: url,
    secrets: ['a secret of the tests, long enough to be one'],
    storage: memoryStorage(),
    ledger: watched,
    walletAddresses: { find: async (address) => directory.get(address) },
    consent: { respond: async () => ({ status: 200, headers: {}, body: 'the wallet asks here' }) },
    pricing: {
      price: async ({ from, to }) => ({ rate: from.assetCode === to.assetCode ? '1' : '1.1', fee: { fixed: FEE } }),
    },
    settings: { policies: { loopbackHttp: true } },
  })
  server.on('request', toNodeListener(openPayments))
  const client = await officialClient(`${url}/merchant`, key)
  const wallet: MerchantWallet = {
    url,
    openPayments,
    client,
    async available(account) {
      await openPayments.drain()
      return (await ledger.balance(account))?.available ?? 0n
    },
    beforeCredit: async () => undefined,
    setCanReceive: async (account, canReceive) => ledger.setPermissions(account, { canSend: true, canReceive }),
    async answer(interaction, decision) {
      const reference = lastSegment(interaction)
      const owner = { session: 'session', walletAddresses: [...directory.keys()] }
      const opened = await openPayments.interactions.find(reference, owner)
      if (!opened.ok) throw new Error(opened.reason)
      const decided = await openPayments.interactions[decision](reference, {
        ...owner,
        csrf: opened.csrf,
        access: 'all',
      })
      if (!decided.ok) throw new Error(decided.reason)
    },
    async close() {
      const closed = new Promise((resolve) => server.close(resolve))
      server.closeAllConnections()
      await closed
      await openPayments.drain()
    },
  }
  return wallet
}
