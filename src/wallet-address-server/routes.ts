import { invalidRequest, unknownWalletAddress } from '../errors/conditions.ts'
import { anyone, defineEndpoint, type Route } from '../http/endpoint.ts'
import { type Exchange, queryOf, type ServerRole } from '../http/exchange.ts'
import {
  clientKeysOf,
  findLocalWalletAddress,
  type LocalWalletAddress,
  tellUnusableKeys,
} from '../http/local-wallet-address.ts'
import { ANY_PATH } from '../http/router.ts'
import type { Context } from '../ports/context.ts'
import { type JsonWebKey, parseKeys, publishedKey } from '../protocol/json-web-key.ts'
import { type WireWalletAddress, walletAddressPath } from '../protocol/wallet-address.ts'
import { createPublisher } from './public-document.ts'

// An address changes rarely. Its keys are read to find out whether one has just been added or removed, so a cache must
// ask each time, at the price of a 304. @spec WAS-5
const ADDRESS_CACHING = 'public, max-age=3600'
const KEYS_CACHING = 'no-cache'

/** The endpoints of the wallet address server: under every wallet address, and by query under the resource server. @spec D11 */
export function walletAddressServerRoutes(): readonly Route[] {
  const publish = createPublisher()
  const open = { method: 'GET', isPublic: true, identify: anyone } as const
  const address = (role: ServerRole, path: string, named: FindNamed): Route =>
    defineEndpoint({
      ...open,
      operation: 'get-wallet-address',
      role,
      path,
      run: async ({ exchange }) =>
        publish(exchange, addressDocument(exchange.context, await named(exchange)), ADDRESS_CACHING),
    })
  const keys = (role: ServerRole, path: string, named: FindNamed): Route =>
    defineEndpoint({
      ...open,
      operation: 'get-wallet-address-keys',
      role,
      path,
      run: async ({ exchange }) =>
        publish(exchange, await keySet(exchange.context, await named(exchange)), KEYS_CACHING),
    })
  return [
    address('resource-server', '/wallet-address', namedByQuery),
    keys('resource-server', '/wallet-address/keys', namedByQuery),
    // The wallet address at the root of its host is also known without its path. @spec WAS-2
    keys('wallet-address-server', '/*/jwks.json', namedByPath),
    address('wallet-address-server', ANY_PATH, namedByPath),
  ]
}

type FindNamed = (exchange: Exchange) => Promise<LocalWalletAddress>

/** The wallet address whose own URL, or the URL of its keys, is requested. The query is ignored. @spec T-35 */
function namedByPath({ context, path }: Exchange): Promise<LocalWalletAddress> {
  return activeAddress(context, `${context.walletAddressServer}${walletAddressPath(path)}`)
}

async function namedByQuery({ context, request }: Exchange): Promise<LocalWalletAddress> {
  const [named, ...others] = queryOf(request).getAll('wallet-address')
  if (named === undefined || others.length > 0) throw invalidRequest('wallet-address must be given once')
  return activeAddress(context, named)
}

/** @spec WAS-7 */
async function activeAddress(context: Context, url: string): Promise<LocalWalletAddress> {
  const found = await findLocalWalletAddress(context, url)
  if (!found?.isActive) throw unknownWalletAddress()
  return found
}

/** @spec WAS-1 @spec WAS-4 */
function addressDocument({ authServer, resourceServer }: Context, found: LocalWalletAddress): WireWalletAddress {
  const { url: id, publicName, assetCode, assetScale } = found
  return { id, publicName, assetCode, assetScale, authServer, resourceServer }
}

/**
 * The wallet's own keys are checked too: one with private members, or with which anybody can sign, is the wallet's
 * mistake. It is left out, and does not take the sound keys beside it along.
 * @spec WAS-10
 */
async function keySet(context: Context, found: LocalWalletAddress): Promise<{ readonly keys: readonly JsonWebKey[] }> {
  const given = await clientKeysOf(context, found)
  const parsed = parseKeys(given)
  tellUnusableKeys(context, found.url, parsed)
  const useOf = (at: number): Pick<JsonWebKey, 'use'> => (given[at]?.use === 'sig' ? { use: 'sig' } : {})
  return { keys: parsed.flatMap((one, at) => (one.ok ? [publishedKey({ ...one.key, ...useOf(at) })] : [])) }
}
