import { expect } from 'vitest'
import { AUTH } from '../../support/test-wallet.ts'
import {
  type AnswerBody,
  type Entry,
  type Expected,
  type GrantModel,
  isSameAsset,
  type Model,
  ownerOf,
  refused,
  type TokenModel,
} from './state.ts'

export const TOKEN_SECONDS = 600
export const INTERACTION_MILLISECONDS = 600_000
export const WAIT_SECONDS = 5
const MINUTE = 60_000
const DAY = 86_400_000

/** The client without a wallet address, known by its key alone. */
export const DIRECTED = 2

export interface GrantAsk {
  readonly client: number
  readonly signer: number
  readonly access: readonly Entry[]
  readonly interact: 'none' | 'poll' | 'finish'
  readonly subject: string | undefined
}

const needsConsent = ({ type, actions }: Entry): boolean => type === 'outgoing-payment' || actions.includes('list-all')

/**
 * Another client's key. Two clients call their keys the same, so the signature is wrong. The name of the third one's key
 * is no name of a key of theirs, nor theirs of its key.
 */
const refusedKey = (client: number, signer: number): Expected =>
  refused((client === DIRECTED) === (signer === DIRECTED) ? 401 : 400, 'invalid_client')

/** `POST /` */
export function requestGrant(model: Model, now: number, ask: GrantAsk): Expected {
  const { client, signer, access, interact, subject } = ask
  if (signer !== client) return refusedKey(client, signer)
  if (access.length === 0 && subject === undefined) return refused(400, 'invalid_request')
  if (new Set(access.map((entry) => JSON.stringify(entry))).size < access.length) return refused(400, 'invalid_request')
  if (access.some(({ limits }) => limits?.debitAmount && limits.receiveAmount)) return refused(400, 'invalid_request')
  const asked = access.filter(needsConsent)
  const isInteractive = asked.length > 0 || subject !== undefined
  if (isInteractive && client === DIRECTED) return refused(400, 'invalid_client')
  if (!access.every(isEntryOfThisServer)) return refused(400, 'invalid_request')
  const owners = new Set(asked.map(({ identifier }) => identifier))
  if (subject !== undefined) owners.add(subject)
  if ([...owners].some((owner) => owner === undefined || ownerOf(owner) === undefined))
    return refused(400, 'invalid_request')
  if (owners.size > 1) return refused(400, 'invalid_request')
  if (isInteractive && interact === 'none') return refused(400, 'invalid_request')
  const [owner] = owners
  const grant = {
    client,
    asked: access,
    owner,
    subject: subject !== undefined,
    hasFinish: owner !== undefined && interact === 'finish',
    createdAt: now,
    expiresAt: now + INTERACTION_MILLISECONDS,
    access,
    continueAfter: now + WAIT_SECONDS * 1000,
  }
  const learn = (body: AnswerBody): void => {
    const learned = learnGrant(grant, body)
    model.grants.push(learned)
    if (owner === undefined) issueToken(model, learned, body, now)
  }
  if (owner === undefined)
    return { status: 200, body: { access_token: freshToken(access), continue: someContinue() }, learn }
  const pending = {
    interact: { redirect: expect.stringMatching(/\/interact\/[0-9a-f]{32}$/), finish: expect.any(String) },
    continue: { ...someContinue(), wait: WAIT_SECONDS },
  }
  return { status: 200, body: pending, learn }
}

function isEntryOfThisServer({ type, identifier, limits, ...rest }: Entry): boolean {
  if (type === 'quote') return true
  if (identifier === undefined) return !needsConsent({ type, ...rest })
  const owner = ownerOf(identifier)
  return owner !== undefined && (limits?.debitAmount === undefined || isSameAsset(limits.debitAmount, owner.asset))
}

const someContinue = (): object => ({
  access_token: { value: expect.any(String) },
  uri: expect.stringContaining(`${AUTH}/continue/`),
})

const freshToken = (access: readonly Entry[]): object => ({
  value: expect.any(String),
  manage: expect.stringContaining(`${AUTH}/token/`),
  expires_in: TOKEN_SECONDS,
  access,
})

type Asked = Pick<
  GrantModel,
  'client' | 'asked' | 'owner' | 'subject' | 'hasFinish' | 'createdAt' | 'expiresAt' | 'access' | 'continueAfter'
>

function learnGrant(asked: Asked, { continue: continuation, interact }: AnswerBody): GrantModel {
  return {
    ...asked,
    continueUri: continuation.uri,
    continueToken: continuation.access_token.value,
    redirect: interact?.redirect ?? '',
    nonce: interact?.finish ?? '',
    state: asked.owner === undefined ? 'issued' : 'pending',
    interaction: asked.owner === undefined ? undefined : 'created',
    session: undefined,
    csrf: undefined,
    issuedAt: undefined,
    interactRef: undefined,
    wrongReferences: 0,
    token: undefined,
    keptUntil: Number.POSITIVE_INFINITY,
    isForgotten: false,
  }
}

/** A token that was given; what nobody's consent was needed for is forgotten a month after it ran out. */
function issueToken(model: Model, grant: GrantModel, body: AnswerBody, now: number): TokenModel {
  const { value, manage } = body.access_token
  const expiresAt = now + TOKEN_SECONDS * 1000
  const keptUntil = grant.owner === undefined ? expiresAt + 30 * DAY : Number.POSITIVE_INFINITY
  const isKnown = model.tokens.some((token) => token.value === value || token.manage === manage)
  if (isKnown) throw new Error('a token was given out twice')
  const token: TokenModel = {
    grant,
    value,
    manage,
    isFirst: grant.token === undefined,
    expiresAt,
    state: 'active',
    rotatedAt: 0,
    successor: undefined,
    keptUntil,
    isForgotten: false,
  }
  model.tokens.push(token)
  Object.assign(grant, { token, keptUntil, state: 'issued', issuedAt: grant.issuedAt ?? now })
  return token
}

export interface GrantCall {
  readonly signer: number
  /** What stands in `Authorization`. */
  readonly presented: string
}

function refuseCaller(
  grant: GrantModel | undefined,
  { signer, presented }: GrantCall,
  code: string,
): Expected | undefined {
  if (grant === undefined || grant.isForgotten) return refused(404, code)
  if (presented !== grant.continueToken) return refused(401, 'invalid_continuation')
  return signer === grant.client ? undefined : refusedKey(grant.client, signer)
}

/** `POST /continue/{id}` */
export function continueGrant(
  model: Model,
  now: number,
  grant: GrantModel | undefined,
  call: GrantCall & { readonly reference: string | undefined },
): Expected {
  const refusal = refuseCaller(grant, call, 'invalid_continuation')
  if (refusal !== undefined || grant === undefined) return refusal ?? refused(404, 'invalid_continuation')
  const { reference } = call
  if (grant.state === 'issued') return repeatContinuation(grant, now, reference)
  if (grant.state === 'rejected') return refused(401, 'request_denied')
  if (grant.state === 'over' || now >= grant.expiresAt) return refused(404, 'invalid_continuation')
  if (now < grant.continueAfter) return refused(400, 'too_fast')
  if (reference === undefined && grant.hasFinish) return refused(401, 'request_denied')
  if (reference === undefined && grant.state === 'pending') {
    grant.continueAfter = now + WAIT_SECONDS * 1000
    return { status: 200, body: { continue: { ...continuationOf(grant), wait: WAIT_SECONDS } } }
  }
  if (reference !== undefined && (grant.state === 'pending' || reference !== grant.interactRef)) {
    grant.wrongReferences++
    if (grant.wrongReferences > 5) endGrant(grant, now, 'over')
    return grant.state === 'pending' ? refused(401, 'request_denied') : refused(404, 'invalid_continuation')
  }
  grant.state = 'issued'
  grant.issuedAt = now
  grant.keptUntil = Number.POSITIVE_INFINITY
  if (grant.access.length === 0) return { status: 200, body: { ...subjectOf(grant), continue: continuationOf(grant) } }
  return {
    status: 200,
    body: { access_token: freshToken(grant.access), ...subjectOf(grant), continue: continuationOf(grant) },
    learn: (body) => void issueToken(model, grant, body, now),
  }
}

const continuationOf = ({ continueToken, continueUri }: GrantModel): object => ({
  access_token: { value: continueToken },
  uri: continueUri,
})

const subjectOf = ({ subject, owner }: GrantModel): object =>
  subject ? { subject: { sub_ids: [{ id: owner, format: 'uri' }] } } : {}

/** The call that issued the token is answered again for a minute, while it is that token. */
function repeatContinuation(grant: GrantModel, now: number, reference: string | undefined): Expected {
  const { token, issuedAt = 0, owner } = grant
  const isSameCall = owner !== undefined && reference === (grant.hasFinish ? grant.interactRef : undefined)
  const isFirst = token === undefined || (token.state === 'active' && token.isFirst)
  if (!isSameCall || now >= issuedAt + MINUTE || !isFirst) return refused(404, 'invalid_continuation')
  const again = token && { access_token: tokenOf(token, now) }
  return { status: 200, body: { ...again, ...subjectOf(grant), continue: continuationOf(grant) } }
}

const tokenOf = ({ value, manage, expiresAt, grant }: TokenModel, now: number): object => ({
  value,
  manage,
  expires_in: Math.max(0, Math.floor((expiresAt - now) / 1000)),
  access: grant.access,
})

/** Ends a grant and its token. What its owner once gave is remembered for good, anything else for a month. */
export function endGrant(grant: GrantModel, now: number, state: 'rejected' | 'over'): void {
  const wasGiven = grant.issuedAt !== undefined && grant.owner !== undefined
  grant.state = state
  grant.keptUntil = wasGiven ? Number.POSITIVE_INFINITY : now + 30 * DAY
  if (grant.token !== undefined) revoke(grant.token, now)
}

function revoke(token: TokenModel, now: number): void {
  token.state = 'revoked'
  token.keptUntil = now + 30 * DAY
}

/** `DELETE /continue/{id}` */
export function cancelGrant(now: number, grant: GrantModel | undefined, call: GrantCall): Expected {
  const refusal = refuseCaller(grant, call, 'invalid_request')
  if (refusal !== undefined || grant === undefined) return refusal ?? refused(404, 'invalid_request')
  if (grant.state !== 'over' && grant.state !== 'rejected') endGrant(grant, now, 'over')
  return { status: 204, body: undefined }
}

/** `POST /token/{id}` of one token with the value of perhaps another. */
export function rotateToken(
  model: Model,
  now: number,
  managed: TokenModel | undefined,
  call: GrantCall & { readonly hasBody: boolean },
): Expected {
  if (managed === undefined || managed.isForgotten || managed.value !== call.presented)
    return refused(404, 'invalid_rotation')
  if (call.signer !== managed.grant.client) return refusedKey(managed.grant.client, call.signer)
  if (call.hasBody) return refused(400, 'invalid_rotation')
  if (managed.state === 'rotated') {
    const { successor } = managed
    const isAgain = successor?.state === 'active' && !successor.isForgotten && now < managed.rotatedAt + MINUTE
    return isAgain ? { status: 200, body: { access_token: tokenOf(successor, now) } } : refused(404, 'invalid_rotation')
  }
  if (managed.state === 'revoked' || managed.grant.state !== 'issued') return refused(404, 'invalid_rotation')
  return {
    status: 200,
    body: { access_token: freshToken(managed.grant.access) },
    learn: (body) => {
      managed.state = 'rotated'
      managed.rotatedAt = now
      managed.keptUntil = now + 30 * DAY
      managed.successor = issueToken(model, managed.grant, body, now)
    },
  }
}

/** `DELETE /token/{id}`: ends the grant, by the token before a rotation too as long as that is answered with the new one. */
export function revokeToken(now: number, managed: TokenModel | undefined, call: GrantCall): Expected {
  if (managed === undefined || managed.isForgotten || managed.value !== call.presented)
    return refused(401, 'invalid_client')
  if (call.signer !== managed.grant.client) return refusedKey(managed.grant.client, call.signer)
  const isRepeated = managed.state === 'rotated' && now < managed.rotatedAt + MINUTE
  if ((managed.state === 'active' || isRepeated) && managed.grant.state === 'issued')
    endGrant(managed.grant, now, 'over')
  return { status: 204, body: undefined }
}
