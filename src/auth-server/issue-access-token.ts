import type { Context } from '../ports/context.ts'
import type { Change, RecordMarks } from '../ports/storage.ts'
import type { Access } from '../protocol/access.ts'
import type { AccessToken } from '../protocol/access-token.ts'
import type { Grant } from '../protocol/grant.ts'
import { entryWindows, spendingIdsOf } from '../protocol/spending-windows.ts'
import { expectSpending } from '../records/expected-reads.ts'
import { freshId } from '../records/fresh-id.ts'
import { OVER_KEPT_MILLISECONDS } from '../records/retention.ts'
import { tokenIdOf, tokenValueOf } from '../records/token-value.ts'

/** An access token as it travels in JSON. */
export interface WireAccessToken {
  readonly value: string
  readonly manage: string
  readonly expires_in: number
  readonly access: readonly Access[]
}

/** The continuation object of a grant. */
export interface WireContinuation {
  readonly access_token: { readonly value: string }
  readonly uri: string
  readonly wait?: number
}

/** An access token, and its value, which is sent to the client and never stored. */
export interface IssuedToken {
  readonly token: AccessToken
  readonly value: string
}

/** Makes a new access token for a grant: only the digest of its value is kept. @spec TOK-1 @spec TOK-6 */
export async function newAccessToken(context: Context, grant: Grant, now = context.clock.now()): Promise<IssuedToken> {
  const { secrets, lifetimes, policies } = context
  // Only the first token of a grant has the grant's time: by it, a repeated continuation knows that one. @spec CON-5
  const issuedAt = now === grant.issuedAt ? now + 1 : now
  const manageId = freshId(secrets, issuedAt)
  const secretId = await secrets.currentId()
  const value = await tokenValueOf(secrets, { secretId, manageId })
  const token: AccessToken = {
    id: await tokenIdOf(secrets, value),
    manageId,
    secretId,
    state: 'active',
    grantId: grant.id,
    client: grant.client,
    ...(grant.clientKey && { clientKey: grant.clientKey }),
    keys: grant.keys,
    access: grant.access,
    ...(grant.walletAddress !== undefined && { walletAddress: grant.walletAddress }),
    ...(grant.account !== undefined && { account: grant.account }),
    issuedAt,
    expiresAt: now + lifetimes.accessTokenSeconds * 1000,
  }
  expectSpending(context, token, spendingIdsOf(entryWindows(token, now, policies.intervalCounting)))
  return { token, value }
}

/** A token that was issued before. Its value is derived again, so a repeated answer is the same one. @spec TOK-10 */
export async function issuedBefore({ secrets }: Context, token: AccessToken): Promise<IssuedToken> {
  return { token, value: await tokenValueOf(secrets, token) }
}

/** The change that stores a new token of a grant. */
export function insertToken(token: AccessToken, grant: Grant): Change {
  return { action: 'insert', kind: 'access-token', value: token, ...keptWithToken(token, grant) }
}

/**
 * How long a live token and its grant are kept. A grant that an owner gave lasts until somebody ends it, however long
 * it goes unused: its token can be rotated all that time. A grant that was issued without consent can simply be
 * requested again: it is deleted 30 days after its token expired.
 * @spec TOK-5
 */
export function keptWithToken(token: AccessToken, grant: Grant): RecordMarks {
  return grant.walletAddress === undefined ? { dueAt: token.expiresAt + OVER_KEPT_MILLISECONDS } : {}
}

/** The JSON form of a token. */
export function tokenToWire(context: Context, { token, value }: IssuedToken): WireAccessToken {
  return {
    value,
    manage: `${context.authServer}/token/${token.manageId}`,
    expires_in: Math.max(0, Math.floor((token.expiresAt - context.clock.now()) / 1000)),
    access: token.access,
  }
}

/** The continuation token of a grant. It is derived, so that only its digest need be stored. */
export function continuationToken(context: Context, { secretId, id }: Pick<Grant, 'secretId' | 'id'>): Promise<string> {
  return context.secrets.derive(secretId, 'continuation-token', id)
}

/** The continuation object of a grant, with that token; `wait` only while there is something to wait for. */
export function continuationToWire(context: Context, grant: Grant, token: string): WireContinuation {
  return {
    access_token: { value: token },
    uri: `${context.authServer}/continue/${grant.id}`,
    ...(grant.state === 'pending' && { wait: context.lifetimes.continuationWaitSeconds }),
  }
}
