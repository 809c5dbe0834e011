import { invalidSignature, unknownClient } from '../errors/conditions.ts'
import type { SignatureCandidate } from '../http-signatures/signature-candidate.ts'
import { readSignatures, verifySignatures } from '../http-signatures/verify-signature.ts'
import type { Context } from '../ports/context.ts'
import type { Change, StoredRecord } from '../ports/storage.ts'
import type { AccessToken } from '../protocol/access-token.ts'
import type { PinnedKey } from '../protocol/grant.ts'
import type { PublicKey } from '../protocol/json-web-key.ts'
import { asCommitted } from '../records/as-committed.ts'
import { decide } from '../records/decide.ts'
import type { ReplayClaims } from '../records/decide-once.ts'
import { readRecord } from '../records/read-record.ts'
import { type ClientKey, type FoundKey, findClientKey, type KeyHolder } from './client-key.ts'
import type { Exchange } from './exchange.ts'
import { claimsOf } from './replay-claims.ts'

/** The proven sender of a request, and the replay claims that must be committed together with its effect. */
export interface Proof extends ReplayClaims {
  /** Every key that signed, each once. */
  readonly keys: readonly PinnedKey[]
  /** The first of them. */
  readonly key: PublicKey
  /** The text that was signed: the values of the covered components, including the access token. */
  readonly base: string
  /** 64 bytes. */
  readonly signature: Uint8Array
}

/** Who calls the resource server: a usable token, and the proof that its client signed this request. */
export interface TokenCaller {
  readonly token: AccessToken
  /** The record of the token, as it was read, or written since with a new key. */
  readonly presented: StoredRecord<'access-token'>
  readonly proof: Proof
}

const GNAP_TOKEN = /^gnap ([A-Za-z0-9\-._~+/]+=*)$/i

/**
 * The value of `Authorization: GNAP <token>`; `undefined` if the header is absent, repeated or of another form.
 * @spec RS-2
 */
export function presentedToken(exchange: Exchange): string | undefined {
  const lines = exchange.request.headerLines('authorization')
  if (lines.length !== 1) return undefined
  return GNAP_TOKEN.exec(lines[0]?.trim() ?? '')?.[1]
}

/**
 * Checks everything about a signature that needs no key, so that a request that fails here causes no network access.
 * @spec SIG-34
 */
export async function signaturesOf(exchange: Exchange): Promise<readonly SignatureCandidate[]> {
  const { context, request } = exchange
  const { policies, lifetimes } = context
  const read = await readSignatures(
    {
      method: request.method,
      targetUris: targetUris(exchange),
      headerLines: (name) => request.headerLines(name),
      body: exchange.bytes,
    },
    {
      profile: policies.signatureProfile,
      legacySyntax: policies.legacySignatureSyntax,
      ageSeconds: lifetimes.signatureAgeSeconds,
      skewSeconds: lifetimes.signatureSkewSeconds,
      now: context.clock.now(),
    },
    context.cryptography,
  )
  if (!read.ok) throw invalidSignature(read.reason)
  return read.candidates
}

/**
 * The URLs that count as `@target-uri`: the origin from configuration and the raw target, whatever the Host header
 * says. The root may also be signed without its slash.
 * @spec SIG-29 @spec SIG-31
 */
function targetUris(exchange: Exchange): readonly string[] {
  const { origin, request } = exchange
  return request.target === '/' ? [`${origin}/`, origin] : [`${origin}${request.target}`]
}

/**
 * Proves that the holder of a token signed the request. Also returns the record of the token as it is now: recording a new
 * key changes it.
 */
export async function proveTokenHolder(
  exchange: Exchange,
  candidates: readonly SignatureCandidate[],
  presented: StoredRecord<'access-token'>,
): Promise<TokenCaller> {
  const { value: token } = presented
  const { proof, written } = await proveGrantHolder(exchange, candidates, token)
  // The grant may have a newer token by now than the one presented.
  return { token, presented: written?.value.id === token.id ? written : presented, proof }
}

/**
 * Proves that the holder of a grant, or of its token, signed the request. Keys that the grant has not seen are recorded
 * with it now, and with its token: `written` is the token's record after that.
 */
export async function proveGrantHolder(
  exchange: Exchange,
  candidates: readonly SignatureCandidate[],
  holder: KeyHolder & { readonly grantId: string },
): Promise<{ readonly proof: Proof; readonly written?: StoredRecord<'access-token'> | undefined }> {
  const { grantId } = holder
  const proof = await proveSignature(exchange, candidates, holder)
  exchange.noteCaller(holder.client, grantId)
  if (newKeys(proof.keys, holder.keys).length === 0) return { proof }
  return { proof, written: await pinKeys(exchange.context, grantId, proof.keys) }
}

const BOUND_TO_ANOTHER = 'the grant is bound to another key'

/**
 * Verifies a signature with the keys of its holder, and prepares the claims that make it single use. If none verifies, either
 * no signature names a key that the holder has now, which each server refuses in its own way; or the signature itself is
 * wrong; or the grant is bound to another key.
 * @spec KEY-12
 */
export async function proveSignature(
  exchange: Exchange,
  candidates: readonly SignatureCandidate[],
  holder: KeyHolder,
): Promise<Proof> {
  const { context, role } = exchange
  // Each once: several signatures of a request may name the same key.
  const findings = new Map<string, Promise<FoundKey>>()
  const findSigner = async (keyId: string): Promise<ClientKey | undefined> => {
    const finding = findings.get(keyId) ?? findClientKey(context, holder, keyId)
    findings.set(keyId, finding)
    const key = await finding
    return typeof key === 'string' ? undefined : key
  }
  const result = await verifySignatures(candidates, findSigner, context.cryptography)
  if (!result.ok) {
    const keys = await Promise.all(findings.values())
    if (keys.every((key) => key === 'unknown'))
      throw role === 'auth-server' ? unknownClient(result.reason) : invalidSignature(result.reason)
    const isTried = keys.some((key) => typeof key !== 'string')
    throw invalidSignature(isTried ? result.reason : BOUND_TO_ANOTHER)
  }
  const [{ candidate, base, signer: first }] = result.verified
  if (candidate.legacySyntax !== undefined) {
    const at = context.clock.now()
    context.emit({ type: 'legacy_signature_syntax', at, syntax: candidate.legacySyntax, keyId: candidate.keyId })
  }
  const signers = new Set(result.verified.map(({ signer }) => signer))
  return {
    keys: [...signers].map(({ key, thumbprint }) => ({ kid: key.kid, thumbprint })),
    key: first.key,
    base,
    signature: candidate.signature,
    // A request with two signatures uses up both if both verify: otherwise it could be sent again with only the other
    // one. One that does not verify now, but may later (its key unpublished, its date ahead), is not used up.
    ...(await claimsOf(exchange, result.verified)),
  }
}

/** Those of the keys whose kid the grant has not seen. */
function newKeys(keys: readonly PinnedKey[], known: readonly PinnedKey[]): readonly PinnedKey[] {
  return keys.filter(({ kid }) => !known.some((pin) => pin.kid === kid))
}

/** The most keys that one grant can be used with: several times as many as a key set may hold. */
const PINNED_KEYS = 100

/**
 * Records the keys that are new to the grant before they are used, so that none of their kids can stand for another key
 * later. Answers the record of the grant's token if it wrote one.
 * @spec KEY-10
 */
async function pinKeys(
  context: Context,
  grantId: string,
  used: readonly PinnedKey[],
): Promise<StoredRecord<'access-token'> | undefined> {
  return decide(context, async () => {
    const grant = await readRecord(context.storage, 'grant', grantId)
    if (grant === undefined || grant.value.state === 'finalised') return { answer: undefined }
    const { keys: known, tokenId } = grant.value
    const isOther = ({ kid, thumbprint }: PinnedKey): boolean =>
      known.some((pin) => pin.kid === kid && pin.thumbprint !== thumbprint)
    if (used.some(isOther)) throw invalidSignature(BOUND_TO_ANOTHER)
    const added = newKeys(used, known)
    if (added.length === 0) return { answer: undefined }
    const keys = [...known, ...added]
    if (keys.length > PINNED_KEYS) throw invalidSignature('this grant has seen too many keys')
    const token = await readRecord(context.storage, 'access-token', tokenId)
    const pinned: Change = { ...grant, action: 'replace', value: { ...grant.value, keys } }
    if (token === undefined) return { changes: [pinned], answer: undefined }
    const write = { ...token, action: 'replace', value: { ...token.value, keys } } satisfies Change
    return { changes: [pinned, write], answer: asCommitted(write) }
  })
}
