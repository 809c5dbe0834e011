import type { Context } from '../ports/context.ts'
import type { Change, RecordMarks } from '../ports/storage.ts'
import type { Access } from '../protocol/access.ts'
import type { AccessToken } from '../protocol/access-token.ts'
import type { Grant } from '../protocol/grant.ts'
import { OVER_KEPT_MILLISECONDS } from '../records/retention.ts'

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

/** Makes a new access token for a grant: only the digest of its value is kept. @spec TOK-1 @spec TOK-6 */
export async function newAccessToken(context: Context, grant: Grant): Promise<AccessToken> {
  const { secrets, clock, lifetimes } = context
  const manageId = secrets.randomId()
  const secretId = await secrets.currentId()
  const issuedAt = clock.now()
  return {
    id: await secrets.digest(await secrets.derive(secretId, 'access-token', manageId)),
    manageId,
    secretId,
    state: 'active',
    grantId: grant.id,
    client: grant.client,
    ...(grant.clientKey && { clientKey: grant.clientKey }),
    keys: grant.keys,
    access: grant.access,
    issuedAt,
    expiresAt: issuedAt + lifetimes.accessTokenSeconds * 1000,
  }
}

/** The change that stores a new token of a grant. */
export function insertToken(token: AccessToken, grant: Grant): Change {
  return { action: 'insert', kind: 'access-token', value: token, ...keptWithToken(token, grant) }
}

/**
 * How long a live token and its grant are kept. What an owner has given lasts until somebody ends it, however long it
 * was not used: its token can be rotated for as long. What was given at once is asked for again instead, and is
 * forgotten 30 days after its token expired.
 * @spec TOK-5
 */
export function keptWithToken(token: AccessToken, grant: Grant): RecordMarks {
  return grant.walletAddress === undefined ? { dueAt: token.expiresAt + OVER_KEPT_MILLISECONDS } : {}
}

/** The JSON form of a token. Its value is derived again, so a repeated answer is the same one. @spec TOK-10 */
export async function tokenToWire(context: Context, token: AccessToken): Promise<WireAccessToken> {
  return {
    value: await context.secrets.derive(token.secretId, 'access-token', token.manageId),
    manage: `${context.authServer}/token/${token.manageId}`,
    expires_in: Math.max(0, Math.floor((token.expiresAt - context.clock.now()) / 1000)),
    access: token.access,
  }
}

/** The continuation object of a grant; `wait` only while there is something to wait for. */
export async function continuationToWire(context: Context, grant: Grant): Promise<WireContinuation> {
  return {
    access_token: { value: await context.secrets.derive(grant.secretId, 'continuation-token', grant.id) },
    uri: `${context.authServer}/continue/${grant.id}`,
    ...(grant.state === 'pending' && { wait: context.lifetimes.continuationWaitSeconds }),
  }
}
