import * as v from 'valibot'
import { isObject } from './is-object.ts'

/** How a client instance identifies itself: by its wallet address, or by a key of its own (directed identity). */
export type ClientIdentification = { readonly walletAddress: string } | { readonly jwk: unknown }

/** The `client` member of a grant request: the deprecated string, or exactly one of the two objects. @spec KEY-5 */
export const ClientIdentification: v.GenericSchema<unknown, ClientIdentification> = v.union(
  [
    v.pipe(
      v.string(),
      v.transform((walletAddress) => ({ walletAddress })),
    ),
    v.strictObject({ walletAddress: v.string() }),
    v.strictObject({ jwk: v.custom(isObject) }),
  ],
  'must be a wallet address, { walletAddress } or { jwk }',
)

/** The one member of a grant request that says whose key must have signed it; the rest is read once that is proved. */
export const IdentifiedRequest: v.GenericSchema<unknown, { readonly client: ClientIdentification }> = v.object({
  client: ClientIdentification,
})

/**
 * The stored identity of a client: its canonical wallet address, or `jwk:` and the RFC 7638 thumbprint of its key.
 * Never absent: a missing identity must not widen what a client sees.
 * @spec KEY-8 @spec KEY-9
 */
export type ClientId = string

/** The identity of a client that is known by its key alone. */
export function directedIdentity(thumbprint: string): ClientId {
  return `jwk:${thumbprint}`
}

/** The wallet address of a client, if it has one. */
export function clientWalletAddress(client: ClientId): string | undefined {
  return client.startsWith('jwk:') ? undefined : client
}

/**
 * Whose quotas are charged for what a client causes: its own, and that of the source of its request if the host names it. If
 * it does, only the source is charged for a client without a wallet address: such identities cost nothing to make, and
 * remembering them would push out the counts of others.
 * @spec T-5 @spec T-37
 */
export function quotaKeysOf(client: ClientId | undefined, source: string | undefined): readonly string[] {
  const isFree = client === undefined || (source !== undefined && clientWalletAddress(client) === undefined)
  return [...(isFree ? [] : [`client ${client}`]), ...(source === undefined ? [] : [`source ${source}`])]
}

/** The longest name that is shown, in characters. */
const MAXIMUM_NAME = 100

/**
 * Characters that are invisible or change the direction of text: a name must not alter how the page around it reads.
 */
const UNSEEN = /[\p{Cc}\p{Cf}\p{Cs}\p{Co}\p{Zl}\p{Zp}\p{Default_Ignorable_Code_Point}\u2800]/gu

/**
 * More combining marks on one letter than any word has (Burmese has five): unlimited marks would be drawn over other
 * text.
 */
const PILED_MARKS = /(\p{M}{5})\p{M}+/gu

/** A name that a client gave itself, fit to be shown beside its origin; `undefined` if nothing is left of it. @spec INT-11 */
export function plainName(text: string): string | undefined {
  const characters = Array.from(
    text.replaceAll(UNSEEN, ' ').replaceAll(PILED_MARKS, '$1').replaceAll(/\s+/g, ' ').trim(),
  )
  return characters.length === 0 ? undefined : characters.slice(0, MAXIMUM_NAME).join('').trim()
}
