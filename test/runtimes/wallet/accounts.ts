import type { JsonWebKey, OpenPaymentsOptions, WalletAddress } from 'open-payments-server'
import { consentPage } from 'open-payments-server/consent'
import { type Mount, urlsAt } from './mounting.ts'
import { sessionOf } from './own-routes.ts'

/** The accounts of the wallet of the tests, with what is in them at the start. */
export const ACCOUNTS = [
  { account: 'alice', assetCode: 'EUR', assetScale: 2, balance: 100_000n },
  { account: 'bob', assetCode: 'EUR', assetScale: 2 },
  { account: 'carol', assetCode: 'USD', assetScale: 4 },
] as const

/**
 * What the wallet brings but for its storage and ledger. `/shop` is a client with these keys. A mounted wallet has a
 * login of its own; a bare one takes everybody for Alice.
 */
export function walletAt(
  origin: string,
  mount: Mount,
  keys: readonly JsonWebKey[],
): Omit<OpenPaymentsOptions, 'storage' | 'ledger'> {
  const urls = urlsAt(origin, mount)
  const [alice, bob, carol] = ACCOUNTS
  const owner = { session: 'session-of-alice', walletAddresses: [`${urls.resourceServer}/alice`], name: 'Alice' }
  const directory = new Map<string, WalletAddress>([
    [`${urls.resourceServer}/alice`, { ...alice, publicName: 'Ælice & “Söhne”' }],
    [`${urls.resourceServer}/bob`, bob],
    [`${urls.resourceServer}/carol`, carol],
    [`${urls.resourceServer}/closed`, { ...bob, isActive: false }],
    [`${urls.resourceServer}/shop`, { ...bob, publicName: 'A Shop', keys }],
  ])
  return {
    ...urls,
    secrets: ['a secret of the tests, long enough to be one'],
    walletAddresses: { find: async (url) => directory.get(url) },
    pricing: {
      price: async ({ from, to }) =>
        from.assetCode === to.assetCode ? { rate: '1' } : { rate: '1.0825', fee: { basisPoints: 30, fixed: 2n } },
    },
    consent: consentPage({
      walletName: 'Wallet of the Tests',
      authenticate: async (request) => {
        if (mount === 'bare' || sessionOf(request.headerLines('cookie').join('; ')) === 'alice') return owner
        return { redirect: `${origin}/login?next=${encodeURIComponent(request.target)}` }
      },
    }),
    settings: { policies: { loopbackHttp: origin.startsWith('http:') } },
  }
}
