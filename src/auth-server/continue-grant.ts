import {
  continuationTooEarly,
  invalidContinuation,
  missingManagementToken,
  requestDenied,
  unknownContinuation,
  wrongContinuationToken,
} from '../errors/conditions.ts'
import type { OpenPaymentsError } from '../errors/open-payments-error.ts'
import { type Proof, presentedToken, proveGrantHolder, signaturesOf } from '../http/credentials.ts'
import { type Input, parseBody } from '../http/endpoint.ts'
import type { Exchange } from '../http/exchange.ts'
import type { Result } from '../http/respond.ts'
import type { Context } from '../ports/context.ts'
import type { StoredRecord } from '../ports/storage.ts'
import { isEqualDigest } from '../protocol/bytes.ts'
import { ContinuationRequest } from '../protocol/continuation.ts'
import { finaliseGrant, type Grant } from '../protocol/grant.ts'
import { unmarked } from '../records/change.ts'
import { type Attempt, decide } from '../records/decide.ts'
import { endGrantChange, revokeGrantChanges } from '../records/end-grant.ts'
import { knownAtFirst, readNamed, readRecord } from '../records/read-record.ts'
import { REPEAT_MILLISECONDS } from '../records/retention.ts'
import { tellOtherAccount } from '../records/tell-other-account.ts'
import {
  continuationToWire,
  type IssuedToken,
  insertToken,
  issuedBefore,
  newAccessToken,
  tokenToWire,
} from './issue-access-token.ts'

/** The holder of a continuation token, proved by the signature of the grant's client. */
export interface ContinuationCaller {
  readonly presented: StoredRecord<'grant'>
  readonly continuationToken: string
  readonly proof: Proof
}

/**
 * Identifies who continues or cancels: id, continuation token and client must belong to one grant. `unknown` makes the
 * refusal for an unknown id.
 * @spec CON-1 @spec CON-2 @spec D14
 */
export function identifyByGrant(unknown: () => OpenPaymentsError): (exchange: Exchange) => Promise<ContinuationCaller> {
  return async (exchange) => {
    const { context, params } = exchange
    const token = presentedToken(exchange)
    if (token === undefined) throw missingManagementToken()
    const candidates = await signaturesOf(exchange)
    const id = params['id'] ?? ''
    const record = await readNamed(context.storage, 'grant', id)
    if (record === undefined) throw unknown()
    if (!isEqualDigest(await context.secrets.digest(token), record.value.continuationHash))
      throw wrongContinuationToken()
    const { proof } = await proveGrantHolder(exchange, candidates, { ...record.value, grantId: id })
    return { presented: record, continuationToken: token, proof }
  }
}

/** The outcome of a continuation. */
type Continuation =
  | { readonly kind: 'waiting'; readonly grant: Grant }
  | { readonly kind: 'issued'; readonly grant: Grant; readonly issued?: IssuedToken }
  | { readonly kind: 'wrong reference'; readonly grant: Grant }

/**
 * `post-continue`: issues the token of an approved grant, exactly once; while the grant is pending, a poll is only told
 * when to come back.
 * @spec CON-3 @spec CON-4 @spec CON-5 @spec CON-7
 */
export async function continueGrant({ exchange, caller }: Input<ContinuationCaller, undefined>): Promise<Result> {
  const { context } = exchange
  const reference =
    exchange.bytes.length === 0 ? undefined : parseBody(ContinuationRequest, exchange.json()).interactRef
  const referenceHash = reference === undefined ? undefined : await context.secrets.digest(reference)
  const readGrant = knownAtFirst(context.storage, caller.presented)
  const outcome = await decide(context, async () => decideContinuation(context, await readGrant(), referenceHash), {
    claims: caller.proof.claims,
  })
  // Count first, refuse afterwards: if the refusal were thrown inside the decision, the count would not be committed.
  if (outcome.kind === 'wrong reference') {
    throw outcome.grant.state === 'pending'
      ? requestDenied('the resource owner has not decided')
      : invalidContinuation()
  }
  return { status: 200, body: continuationBody(context, caller, outcome) }
}

/** Built only from values that are already available: nothing may fail once the grant has issued its token. */
function continuationBody(
  context: Context,
  { continuationToken }: ContinuationCaller,
  outcome: Exclude<Continuation, { readonly kind: 'wrong reference' }>,
): unknown {
  const { grant } = outcome
  const continuation = { continue: continuationToWire(context, grant, continuationToken) }
  if (outcome.kind !== 'issued') return continuation
  return {
    ...(outcome.issued && { access_token: tokenToWire(context, outcome.issued) }),
    // The subject is told only after its owner approved, and only here. @spec GRT-12
    ...(grant.subject && { subject: { sub_ids: [{ id: grant.walletAddress, format: 'uri' }] } }),
    ...continuation,
  }
}

async function decideContinuation(
  context: Context,
  record: StoredRecord<'grant'> | undefined,
  referenceHash: string | undefined,
): Promise<Attempt<Continuation>> {
  if (record === undefined) throw unknownContinuation()
  const grant = record.value
  const now = context.clock.now()
  if (grant.state === 'issued') return repeatIssue(context, record, referenceHash, now)
  if (grant.finalisation === 'rejected') throw requestDenied('the resource owner denied the request')
  if (grant.state === 'finalised' || now >= grant.expiresAt) throw invalidContinuation()
  // A wait that is much longer than any says only that a clock was wrong; the clocks of processes differ a little.
  const wait = (grant.continueAfter - now) / 1000
  if (wait > 0 && wait <= 2 * context.lifetimes.continuationWaitSeconds) throw continuationTooEarly(Math.ceil(wait))
  if (referenceHash !== undefined) {
    const isRight = grant.state === 'approved' && isReferenceOf(grant, referenceHash)
    return isRight ? issue(context, record) : countWrongReference(context, record)
  }
  if (grant.finish !== undefined)
    throw requestDenied('this grant continues with the interact_ref of its finish redirect')
  return grant.state === 'approved' ? issue(context, record) : keepWaiting(context, record, now)
}

/** @spec INT-14 @spec T-15 */
function isReferenceOf({ interactRefHash }: Grant, referenceHash: string): boolean {
  return interactRefHash !== undefined && isEqualDigest(referenceHash, interactRefHash)
}

const WRONG_REFERENCES_ALLOWED = 5

/** @spec INT-14 */
function countWrongReference(context: Context, record: StoredRecord<'grant'>): Attempt<Continuation> {
  const counted: Grant = { ...record.value, wrongReferences: record.value.wrongReferences + 1 }
  if (counted.wrongReferences <= WRONG_REFERENCES_ALLOWED) {
    const changes = [{ ...record, action: 'replace', value: counted }] as const
    return { changes, answer: { kind: 'wrong reference', grant: counted } }
  }
  const value = finaliseGrant(counted, 'revoked')
  return { changes: [endGrantChange(context, record, value)], answer: { kind: 'wrong reference', grant: value } }
}

/** The token is stored in the commit that takes the grant from approved to issued, so there is never a second one. @spec CON-4 */
async function issue(context: Context, record: StoredRecord<'grant'>): Promise<Attempt<Continuation>> {
  const approved = record.value
  await requireSubject(context, approved)
  if (approved.access.length === 0) {
    const value: Grant = { ...approved, state: 'issued', issuedAt: context.clock.now() }
    return { changes: [{ ...unmarked(record), action: 'replace', value }], answer: { kind: 'issued', grant: value } }
  }
  const issued = await newAccessToken(context, approved)
  const { token } = issued
  // The token's own time, not a second reading of the clock: by it, a repeat recognises that the token is still the
  // first one.
  const value: Grant = { ...approved, state: 'issued', issuedAt: token.issuedAt, tokenId: token.id }
  return {
    changes: [insertToken(token, value), { ...unmarked(record), action: 'replace', value, isListed: true }],
    answer: { kind: 'issued', grant: value, issued },
  }
}

/**
 * Refuses for now to confirm the subject if the directory no longer has its wallet address, or has it as inactive or
 * with another account than the one whose owner approved.
 * @spec GRT-12 @spec RS-13 @spec T-52
 */
async function requireSubject(context: Context, grant: Grant): Promise<void> {
  if (!grant.subject || grant.walletAddress === undefined) return
  const found = await context.walletAddresses.find(grant.walletAddress)
  const isOther = found !== undefined && found.account !== grant.account
  if (isOther) tellOtherAccount(context, grant, found.account)
  if (isOther || !found?.isActive) throw requestDenied('the subject cannot be confirmed at present')
}

function keepWaiting(context: Context, record: StoredRecord<'grant'>, now: number): Attempt<Continuation> {
  const grant: Grant = { ...record.value, continueAfter: now + context.lifetimes.continuationWaitSeconds * 1000 }
  return { changes: [{ ...record, action: 'replace', value: grant }], answer: { kind: 'waiting', grant } }
}

/** @spec CON-5 @spec CON-6 */
async function repeatIssue(
  context: Context,
  { kind, version, value: grant }: StoredRecord<'grant'>,
  referenceHash: string | undefined,
  now: number,
): Promise<Attempt<Continuation>> {
  const isSameCall = referenceHash === undefined ? grant.finish === undefined : isReferenceOf(grant, referenceHash)
  const isInTime = grant.issuedAt !== undefined && now < grant.issuedAt + REPEAT_MILLISECONDS
  // A grant that needed no consent was issued with its request: there is no continuation to repeat.
  if (grant.decidedAt === undefined || !isSameCall || !isInTime) throw invalidContinuation()
  const token = await readRecord(context.storage, 'access-token', grant.tokenId)
  // A token that has since been rotated or revoked is not given out again.
  if (token !== undefined && (token.value.state !== 'active' || token.value.issuedAt !== grant.issuedAt))
    throw invalidContinuation()
  await requireSubject(context, grant)
  return {
    // The grant may have been read long ago, before its client's keys were fetched.
    changes: [{ action: 'check', kind, id: grant.id, version }],
    answer: { kind: 'issued', grant, ...(token && { issued: await issuedBefore(context, token.value) }) },
  }
}

/** `delete-continue`: ends the grant and its token in one commit. Repeating it is fine. @spec CON-8 */
export async function cancelGrant({ exchange, caller }: Input<ContinuationCaller, undefined>): Promise<Result> {
  const { context } = exchange
  const readGrant = knownAtFirst(context.storage, caller.presented)
  await decide(
    context,
    async () => {
      const record = await readGrant()
      if (record === undefined || record.value.state === 'finalised') return { answer: undefined }
      return { changes: await revokeGrantChanges(context, record), answer: undefined }
    },
    { claims: caller.proof.claims },
  )
  return { status: 204 }
}
