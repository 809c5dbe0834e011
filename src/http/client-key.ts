import { rateLimited, unavailable } from '../errors/conditions.ts'
import type { Context } from '../ports/context.ts'
import type { KeySetResult } from '../ports/key-resolver.ts'
import { type ClientId, clientWalletAddress } from '../protocol/client.ts'
import type { PinnedKey } from '../protocol/grant.ts'
import { findKey, type PublicKey, parseKeySet, parseKeys } from '../protocol/json-web-key.ts'
import { reasonText } from '../protocol/reason-text.ts'
import { thumbprintOf } from '../records/thumbprint.ts'
import { clientKeysOf, isLocalWalletAddress, tellUnusableKeys } from './local-wallet-address.ts'

/** Whose key must have signed: a client, and the keys that it has already used under its grant. */
export interface KeyHolder {
  readonly client: ClientId
  readonly clientKey?: PublicKey
  readonly keys: readonly PinnedKey[]
  /** The client's current key set, if it was already fetched for this request. */
  readonly currentKeys?: readonly PublicKey[]
}

/** A key of the client, with its RFC 7638 thumbprint. */
export interface ClientKey {
  readonly key: PublicKey
  readonly thumbprint: string
}

/**
 * What a holder has under a key id: a key that it may sign with; `unknown` if the client's current key set has none with
 * this id; `unbound` if its grant is bound to another.
 */
export type FoundKey = ClientKey | 'unknown' | 'unbound'

/**
 * Finds the key that a holder may sign with under a key id: one in the client's current key set whose material has not
 * changed since the grant first saw that id. Throws "unavailable" if the key set cannot be fetched, because that says
 * nothing about the signature.
 * @spec KEY-10 @spec KEY-11
 */
export async function findClientKey(context: Context, holder: KeyHolder, keyId: string): Promise<FoundKey> {
  const [original] = holder.keys
  if (context.policies.keyBinding === 'key' && original !== undefined && original.kid !== keyId) return 'unbound'
  const pinned = holder.keys.find((pin) => pin.kid === keyId)
  const key = await currentKey(context, holder, keyId)
  if (key === undefined) return 'unknown'
  const thumbprint = await thumbprintOf(context, key)
  if (pinned !== undefined && pinned.thumbprint !== thumbprint) {
    context.emit({ type: 'key_substituted', at: context.clock.now(), client: holder.client, keyId })
    return 'unbound'
  }
  return { key, thumbprint }
}

async function currentKey(context: Context, holder: KeyHolder, keyId: string): Promise<PublicKey | undefined> {
  const walletAddress = clientWalletAddress(holder.client)
  if (walletAddress === undefined) return holder.clientKey?.kid === keyId ? holder.clientKey : undefined
  const fetched = holder.currentKeys && findKey(holder.currentKeys, keyId)
  if (fetched !== undefined) return fetched
  const keySet = await clientKeySet(context, walletAddress, [keyId], holder.keys.length > 0)
  if (!keySet.ok && keySet.reason === 'unreachable')
    throw unavailable(`the key set of ${walletAddress} could not be fetched${because(keySet)}`)
  return keySet.ok ? findKey(keySet.keys, keyId) : undefined
}

/** The answer of a resolver that was asked. */
type AskedKeySet = Exclude<KeySetResult, { readonly reason: 'rate_limited' }>

/** What the resolver says of its failure, to be put behind what the client is told. */
export function because({ detail }: Extract<AskedKeySet, { readonly ok: false }>): string {
  return detail === undefined ? '' : `: ${reasonText(detail)}`
}

/**
 * The current key set of a client, in which one of these keys is looked for: read from the wallet's directory if it lives
 * here, otherwise fetched; fetched again only if it has none of them. Throws "rate limited" if the source of the request
 * has caused too many fetches. `isHolder`: a grant or token is bound to the client already (see `KeyAsker`).
 * @spec KEY-6 @spec T-5
 */
export async function clientKeySet(
  context: Context,
  walletAddress: string,
  keyIds: readonly string[],
  isHolder = false,
): Promise<AskedKeySet> {
  if (isLocalWalletAddress(context, walletAddress)) {
    const found = await context.walletAddresses.find(walletAddress)
    if (!found?.isActive)
      return { ok: false, reason: 'invalid', detail: 'the wallet has no such wallet address, or it is not active' }
    const given = await clientKeysOf(context, { ...found, url: walletAddress })
    const keys = parseKeySet({ keys: given }) ?? []
    // The ones looked for may be among those that cannot be used.
    if (!hasAnyOf(keys, keyIds)) tellUnusableKeys(context, walletAddress, parseKeys(given))
    return { ok: true, keys }
  }
  const { keyResolver, source } = context
  const asker = { isHolder, source }
  const held = await keyResolver.keySet(walletAddress, undefined, asker)
  const isMissing = held.ok && !hasAnyOf(held.keys, keyIds)
  const found = isMissing ? await keyResolver.keySet(walletAddress, keyIds[0], asker) : held
  if (!found.ok && found.reason === 'rate_limited')
    throw rateLimited(found.retryAfterSeconds, `one source names too many clients, the last of them ${walletAddress}`)
  return found
}

/** Whether one of these ids names a key of a set. */
export function hasAnyOf(keys: readonly PublicKey[], keyIds: readonly string[]): boolean {
  return keyIds.some((keyId) => findKey(keys, keyId) !== undefined)
}
