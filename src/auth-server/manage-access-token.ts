import { invalidRotation, missingManagementToken, unknownManagedToken } from '../errors/conditions.ts'
import type { OpenPaymentsError } from '../errors/open-payments-error.ts'
import { checkMediaType } from '../http/body.ts'
import { presentedToken, proveTokenHolder, signaturesOf, type TokenCaller } from '../http/credentials.ts'
import type { Input } from '../http/endpoint.ts'
import type { Exchange } from '../http/exchange.ts'
import type { Result } from '../http/respond.ts'
import type { Context } from '../ports/context.ts'
import type { StoredRecord } from '../ports/storage.ts'
import type { AccessToken } from '../protocol/access-token.ts'
import { unmarked } from '../records/change.ts'
import { type Attempt, decide } from '../records/decide.ts'
import { revokeGrantChanges } from '../records/end-grant.ts'
import { knownAtFirst, readRecord } from '../records/read-record.ts'
import { OVER_KEPT_MILLISECONDS, REPEAT_MILLISECONDS } from '../records/retention.ts'
import { tokenIdOf } from '../records/token-value.ts'
import {
  type IssuedToken,
  insertToken,
  issuedBefore,
  keptWithToken,
  newAccessToken,
  tokenToWire,
} from './issue-access-token.ts'

/**
 * Identifies who manages a token: the presented value must be that of the token in the path; otherwise `unknown` makes
 * the refusal.
 * @spec TOK-3
 */
export function identifyByToken(unknown: () => OpenPaymentsError): (exchange: Exchange) => Promise<TokenCaller> {
  return async (exchange) => {
    const { context, params } = exchange
    const value = presentedToken(exchange)
    if (value === undefined) throw missingManagementToken()
    const candidates = await signaturesOf(exchange)
    const record = await readRecord(context.storage, 'access-token', await tokenIdOf(context.secrets, value))
    if (record === undefined || record.value.manageId !== params['id']) throw unknown()
    return proveTokenHolder(exchange, candidates, record)
  }
}

/**
 * `post-token`: a new value and management URI for the same access; the old value stops working in the same commit. An
 * expired token can be rotated, a revoked one cannot. Spent amounts belong to the grant and stay.
 * @spec TOK-5 @spec TOK-6 @spec TOK-7 @spec TOK-8
 */
export async function rotateToken({ exchange, caller }: Input<TokenCaller, undefined>): Promise<Result> {
  const { context } = exchange
  refuseKeyRotation(exchange)
  const readToken = knownAtFirst(context.storage, caller.presented)
  const issued = await decide(context, async () => decideRotation(context, await readToken()), {
    claims: caller.proof.claims,
  })
  return { status: 200, body: { access_token: tokenToWire(context, issued) } }
}

const EMPTY_OBJECT = /^\{\s*\}$/

/** An empty object asks for nothing; any member asks for something that this server does not do. @spec KEY-15 */
function refuseKeyRotation({ request, bytes }: Exchange): void {
  if (bytes.length === 0) return
  checkMediaType(request)
  const asked = new TextDecoder().decode(bytes).trim()
  if (asked !== '' && !EMPTY_OBJECT.test(asked))
    throw invalidRotation('a rotation takes no body; keys are not rotated here')
}

async function decideRotation(
  context: Context,
  record: StoredRecord<'access-token'> | undefined,
): Promise<Attempt<IssuedToken>> {
  if (record === undefined || record.value.state === 'revoked') throw unknownManagedToken()
  if (record.value.state === 'rotated') return { answer: await repeatRotation(context, record) }
  const grant = await readRecord(context.storage, 'grant', record.value.grantId)
  if (grant === undefined || grant.value.state !== 'issued') throw unknownManagedToken()
  const now = context.clock.now()
  const issued = await newAccessToken(context, grant.value, now)
  const { token } = issued
  const rotated: AccessToken = { ...record.value, state: 'rotated', rotatedAt: now, successorId: token.id }
  return {
    changes: [
      insertToken(token, grant.value),
      { ...unmarked(record), action: 'replace', value: rotated, dueAt: now + OVER_KEPT_MILLISECONDS },
      {
        ...grant,
        action: 'replace',
        value: { ...grant.value, tokenId: token.id },
        ...keptWithToken(token, grant.value),
      },
    ],
    answer: issued,
  }
}

/**
 * For a minute, the slower of two concurrent rotations, or a client that lost the answer, gets the same new token.
 * @spec TOK-7
 */
async function repeatRotation(context: Context, { value }: StoredRecord<'access-token'>): Promise<IssuedToken> {
  if (!isStillRepeated(context, value)) throw unknownManagedToken()
  const successor = await readRecord(context.storage, 'access-token', value.successorId)
  if (successor?.value.state !== 'active') throw unknownManagedToken()
  return issuedBefore(context, successor.value)
}

function isStillRepeated({ clock }: Context, { rotatedAt }: AccessToken): boolean {
  return rotatedAt !== undefined && clock.now() < rotatedAt + REPEAT_MILLISECONDS
}

/**
 * `delete-token`: the token is unusable for every request that starts after the answer. Repeating it is fine. The
 * grant, which has no other token, ends in the same commit. While a rotated token can still be exchanged for its
 * successor (see `repeatRotation`), revoking it ends the successor too: the client may have lost the answer to the
 * rotation, and has nothing else to revoke.
 * @spec TOK-9
 */
export async function revokeToken({ exchange, caller }: Input<TokenCaller, undefined>): Promise<Result> {
  const { context } = exchange
  const { token } = caller
  const isLive = token.state === 'active' || isStillRepeated(context, token)
  const readToken = knownAtFirst(context.storage, caller.presented)
  await decide(
    context,
    async () => {
      // Read even if the token was active: it may have been rotated since, and only the grant names the newest token.
      const grant = isLive ? await readRecord(context.storage, 'grant', token.grantId) : undefined
      if (grant === undefined || grant.value.state === 'finalised') return { answer: undefined }
      const newest = token.id === grant.value.tokenId ? await readToken() : undefined
      return { changes: await revokeGrantChanges(context, grant, newest), answer: undefined }
    },
    { claims: caller.proof.claims },
  )
  return { status: 204 }
}
