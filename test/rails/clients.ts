import { createOpenPayments, systemClock } from 'open-payments-server'
import type { SigningKey } from 'open-payments-server/testing'
import { drawKey } from '../crashes/client.ts'
import { createGrantFlow } from '../crashes/grants.ts'
import { NO_PAGE } from '../support/no-page.ts'
import type { WalletBooks } from './wallet-books.ts'
import { ACCOUNTS, amountOf, directoryOf, secretOf, type WalletName } from './wallet-process/wallets.ts'

/** A client of one wallet, with all that it was granted there. */
export interface WalletClient {
  readonly wallet: WalletName
  /** The published URL of the wallet. */
  readonly base: string
  readonly signer: SigningKey
  readonly tokens: {
    /** Incoming payments of any account. */
    readonly receiving: string
    /** Quotes and payments from an account, within a limit that nothing here reaches, so that what is spent is counted. */
    readonly alice: string
    readonly carol: string
  }
}

/** Draws a client and has it granted what it needs, in this process, which nobody kills. */
export async function grantClient(
  wallet: WalletName,
  base: string,
  { storage, ledger }: WalletBooks,
  now: () => number,
  advance: (milliseconds: number) => void,
): Promise<WalletClient> {
  const signer = await drawKey(`client-of-${wallet}`)
  const directory = directoryOf(base, { [signer.keyId]: signer.jwk })
  const served = createOpenPayments({
    authServer: `${base}/auth`,
    resourceServer: base,
    secrets: [secretOf(wallet)],
    storage,
    ledger,
    walletAddresses: { find: async (url) => directory.get(url) },
    consent: NO_PAGE,
    clock: { ...systemClock(), now },
    settings: {
      lifetimes: { accessTokenSeconds: 10_000_000, continuationWaitSeconds: 1 },
      policies: { loopbackHttp: true },
    },
  })
  const grant = createGrantFlow(served, { base, accounts: ACCOUNTS }, signer, now, advance)
  const spending = (payer: 'alice' | 'carol'): Promise<string> =>
    grant([
      {
        type: 'outgoing-payment',
        actions: ['create', 'read', 'list'],
        identifier: `${base}/${payer}`,
        limits: { debitAmount: amountOf(payer, 1_000_000_000), interval: 'R/2025-01-01T00:00:00Z/P10Y' },
      },
      { type: 'quote', actions: ['create', 'read'] },
    ])
  const receiving = [{ type: 'incoming-payment', actions: ['create', 'read', 'list', 'complete'] }]
  return {
    ...{ wallet, base, signer },
    tokens: { receiving: await grant(receiving), alice: await spending('alice'), carol: await spending('carol') },
  }
}
