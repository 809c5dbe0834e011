import { invalidRequest, unknownWalletAddress } from '../errors/conditions.ts'
import { anyone, defineEndpoint, type Route } from '../http/endpoint.ts'
import { type Exchange, queryOf } from '../http/exchange.ts'
import { clientKeysOf, findLocalWalletAddress, type LocalWalletAddress } from '../http/local-wallet-address.ts'
import type { Result } from '../http/respond.ts'
import { ANY_PATH } from '../http/router.ts'
import type { Context } from '../ports/context.ts'
import { type JsonWebKey, parsePublicKey, publishedKey } from '../protocol/json-web-key.ts'
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
      run: async ({ exchange }) => addressDocument(exchange, await namedByQuery(exchange)),
    }),
    defineEndpoint({
      ...open,
      operation: 'get-wallet-address-keys',
      role: 'resource-server',
      path: '/wallet-address/keys',
      run: async ({ exchange }) => keySet(exchange, await namedByQuery(exchange)),
    }),
    // The wallet address at the root of its host is also known without its path. @spec WAS-2
    ...['/jwks.json', '/:account+/jwks.json'].map((path) =>
      defineEndpoint({
        ...open,
        operation: 'get-wallet-address-keys',
        role: 'wallet-address-server',
        path,
        run: async ({ exchange }) => keySet(exchange, await namedByPath(exchange, KEYS_SUFFIX)),
      }),
    ),
    defineEndpoint({
      ...open,
      operation: 'get-wallet-address',
      role: 'wallet-address-server',
      path: ANY_PATH,
      run: async ({ exchange }) => addressDocument(exchange, await namedByPath(exchange, '')),
    }),
  ]
}

const KEYS_SUFFIX = '/jwks.json'

/** The wallet address whose own URL, with `suffix` behind it, is asked for. The query is ignored. @spec T-35 */
async function namedByPath({ context, request }: Exchange, suffix: string): Promise<LocalWalletAddress> {
  const path = request.target.split('?', 1)[0] ?? ''
  return activeAddress(context, `${context.walletAddressServer}${path.slice(0, path.lastIndexOf(suffix))}`)
}

async function namedByQuery({ context, request }: Exchange): Promise<LocalWalletAddress> {
  const [named, ...others] = queryOf(request).getAll('wallet-address')
  if (named === undefined || others.length > 0) throw invalidRequest('wallet-address must be given once')
  return activeAddress(context, named)
}

/** @spec WAS-7 */
async function activeAddress(context: Context, url: string): Promise<LocalWalletAddress> {
  const found = await findLocalWalletAddress(context, url)
  if (found === undefined || found.account.isActive === false) throw unknownWalletAddress()
  return found
}

function addressDocument(exchange: Exchange, { url, account }: LocalWalletAddress): Promise<Result> {
  const { authServer, resourceServer } = exchange.context
  const { publicName, assetCode, assetScale } = account
  const body = walletAddressToWire({
    walletAddress: url,
    publicName,
    assetCode,
    assetScale,
    authServer,
    resourceServer,
  })
  return publicDocument(exchange, body, ADDRESS_SECONDS)
}

/** @spec WAS-10 */
async function keySet(exchange: Exchange, found: LocalWalletAddress): Promise<Result> {
  const keys = await clientKeysOf(exchange.context, found)
  return publicDocument(exchange, { keys: keys.map(publicKeyOf) }, KEYS_SECONDS)
}

/** A document that anyone may hold for some seconds; who holds the present one already is only told so. @spec WAS-5 @spec WAS-8 */
async function publicDocument({ context, request }: Exchange, body: unknown, seconds: number): Promise<Result> {
  const raw = JSON.stringify(body)
  const etag = `"${await context.secrets.digest(raw)}"`
  const headers = {
    'cache-control': `public, max-age=${seconds}`,
    etag,
    vary: 'Accept',
    'access-control-allow-origin': '*',
  }
  const held = request.headerLines('if-none-match').flatMap((line) => line.split(',').map((tag) => tag.trim()))
  const isHeld = held.some((tag) => tag === '*' || tag === etag || tag === `W/${etag}`)
  return isHeld
    ? { status: 304, headers }
    : { status: 200, raw, headers: { 'content-type': 'application/json', ...headers } }
}

/** The wallet's own keys are checked too: one with private members, or that anybody can sign with, is a fault of the wallet. */
function publicKeyOf(jwk: JsonWebKey): JsonWebKey {
  const parsed = parsePublicKey(jwk, { requireAlg: false })
  if (!parsed.ok) throw new TypeError(`walletAddresses.find gave a key that cannot be published: ${parsed.reason}`)
  return publishedKey(jwk)
}
