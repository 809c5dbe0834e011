import { invalidRequest, unknownWalletAddress } from '../errors/conditions.ts'
import { anyone, defineEndpoint, type Route } from '../http/endpoint.ts'
import type { Exchange } from '../http/exchange.ts'
import { findLocalWalletAddress, type LocalWalletAddress } from '../http/local-wallet-address.ts'
import type { Result } from '../http/respond.ts'
import { ANY_PATH } from '../http/router.ts'
import type { Context } from '../ports/context.ts'
import { publishedKey } from '../protocol/json-web-key.ts'
import { walletAddressToWire } from '../protocol/wallet-address.ts'

// The address changes rarely, keys must be gone soon after they are removed. @spec WAS-5
const ADDRESS_SECONDS = 3600
const KEYS_SECONDS = 60

/** The endpoints of the wallet address server: under every wallet address, and by query under the resource server. @spec D11 */
export function walletAddressServerRoutes(): readonly Route[] {
  const open = { method: 'GET', body: 'none', identify: anyone } as const
  return [
    defineEndpoint({
      ...open,
      operation: 'get-wallet-address',
      role: 'resource-server',
      path: '/wallet-address',
      run: async ({ exchange }) => addressDocument(exchange.context, await namedByQuery(exchange)),
    }),
    defineEndpoint({
      ...open,
      operation: 'get-wallet-address-keys',
      role: 'resource-server',
      path: '/wallet-address/keys',
      run: async ({ exchange }) => keySet(await namedByQuery(exchange)),
    }),
    defineEndpoint({
      ...open,
      operation: 'get-wallet-address-keys',
      role: 'wallet-address-server',
      path: '/:account+/jwks.json',
      run: async ({ exchange }) => keySet(await namedByPath(exchange, KEYS_SUFFIX)),
    }),
    defineEndpoint({
      ...open,
      operation: 'get-wallet-address',
      role: 'wallet-address-server',
      path: ANY_PATH,
      run: async ({ exchange }) => addressDocument(exchange.context, await namedByPath(exchange, '')),
    }),
  ]
}

const KEYS_SUFFIX = '/jwks.json'

/** The wallet address whose own URL, with `suffix` behind it, is asked for. The query is ignored. @spec T-35 */
async function namedByPath({ context, request }: Exchange, suffix: string): Promise<LocalWalletAddress> {
  const path = request.target.split('?', 1)[0] ?? ''
  const trimmed = path.endsWith('/') ? path.slice(0, -1) : path
  return activeAddress(context, `${context.walletAddressServer}${trimmed.slice(0, trimmed.length - suffix.length)}`)
}

async function namedByQuery({ context, query }: Exchange): Promise<LocalWalletAddress> {
  const [named, ...others] = query.getAll('wallet-address')
  if (named === undefined || others.length > 0) throw invalidRequest('wallet-address must be given once')
  return activeAddress(context, named)
}

/** @spec WAS-7 */
async function activeAddress(context: Context, url: string): Promise<LocalWalletAddress> {
  const found = await findLocalWalletAddress(context, url)
  if (found === undefined || found.account.isActive === false) throw unknownWalletAddress()
  return found
}

function addressDocument(context: Context, { url, account }: LocalWalletAddress): Result {
  const { authServer, resourceServer } = context
  const { publicName, assetCode, assetScale } = account
  return {
    status: 200,
    body: walletAddressToWire({ walletAddress: url, publicName, assetCode, assetScale, authServer, resourceServer }),
    headers: publicHeaders(ADDRESS_SECONDS),
  }
}

/** @spec WAS-10 */
function keySet({ account }: LocalWalletAddress): Result {
  return { status: 200, body: { keys: (account.keys ?? []).map(publishedKey) }, headers: publicHeaders(KEYS_SECONDS) }
}

/** @spec WAS-5 @spec WAS-8 */
function publicHeaders(seconds: number): Readonly<Record<string, string>> {
  return { 'cache-control': `public, max-age=${seconds}`, vary: 'Accept', 'access-control-allow-origin': '*' }
}
