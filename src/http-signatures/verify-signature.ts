import type { Cryptography } from '../ports/cryptography.ts'
import { toUtf8 } from '../protocol/bytes.ts'
import { isUsablePoint } from '../protocol/ed25519-point.ts'
import { type PublicKey, publicKeyBytes } from '../protocol/json-web-key.ts'
import { verifyContentDigest } from './content-digest.ts'
import { combineFieldLines, MAXIMUM_FIELD_LENGTH } from './field-value.ts'
import { readLegacySignature } from './legacy-syntax.ts'
import { type Refusal, refuse } from './refusal.ts'
import { readCandidate, type SignatureCandidate, type SignatureRules } from './signature-candidate.ts'
import { type LegacySyntax, readSignatureInputs, type SignatureInputResult } from './signature-input.ts'
import type { SignedMessage } from './signed-message.ts'

/**
 * Fields that must have one line: of two, one party might read one and another party verify the other. None of their
 * valid values contains a comma, so a comma means that a Fetch host has joined two lines.
 * @spec SIG-32
 */
const SINGLE_FIELDS = ['authorization', 'content-type', 'content-length', 'host'] as const

/**
 * Checks everything that needs no key and no network: sizes, syntax, coverage, time, digest. Returns the signatures
 * that pass (at least one), or why the first one failed.
 * @spec SIG-5 @spec SIG-34 @spec DIG-5
 */
export async function readSignatures(
  message: SignedMessage,
  rules: SignatureRules,
  cryptography: Cryptography,
): Promise<{ readonly ok: true; readonly candidates: readonly SignatureCandidate[] } | Refusal> {
  const repeated = SINGLE_FIELDS.find((name) =>
    message.headerLines(name).some((line, at) => at > 0 || line.includes(',')),
  )
  if (repeated !== undefined) return refuse(`there is more than one ${repeated} line`)
  const read = readSignatureHeaders(message, rules.legacySyntax)
  if (!read.ok) return read

  const candidates: SignatureCandidate[] = []
  let refusal: Refusal | undefined
  for (const input of read.inputs) {
    const result = input.ok ? readCandidate(input.input, message, rules) : input
    if (result.ok) candidates.push(result.candidate)
    else refusal ??= result
  }
  if (candidates.length === 0) return refusal ?? refuse('no label stands in both Signature-Input and Signature')

  const digestLines = message.headerLines('content-digest')
  if (digestLines.length > 0) {
    const digest = await verifyContentDigest(digestLines, message.body, cryptography)
    if (!digest.ok) return digest
  }
  return { ok: true, candidates }
}

/**
 * Reads the signatures of a message with the strict reader or, if that cannot read them, with the accepted legacy ones.
 * @spec D2
 */
function readSignatureHeaders(
  message: SignedMessage,
  legacySyntax: readonly LegacySyntax[],
): { readonly ok: true; readonly inputs: readonly SignatureInputResult[] } | Refusal {
  const inputLines = message.headerLines('signature-input')
  const signatureLines = message.headerLines('signature')
  if (inputLines.length === 0 || signatureLines.length === 0) return refuse('the request is not signed')

  const inputText = combineFieldLines(inputLines)
  const signatureText = combineFieldLines(signatureLines)
  if (inputText === undefined || signatureText === undefined) return refuse('signature headers must be ASCII')
  if (inputText.length > MAXIMUM_FIELD_LENGTH || signatureText.length > MAXIMUM_FIELD_LENGTH)
    return refuse('signature headers are too long')

  const read = readSignatureInputs(inputText, signatureText)
  if (read !== 'malformed') return read
  const input = readLegacySignature(inputText, signatureText, legacySyntax)
  return input ? { ok: true, inputs: [{ ok: true, input }] } : refuse('signature headers are malformed')
}

/** A signature that verifies, the base that was signed, and the key as `findSigner` returned it. */
export interface VerifiedSignature<Found> {
  readonly candidate: SignatureCandidate
  readonly base: string
  readonly signer: Found
}

/**
 * Tries each candidate with the key that `findSigner` returns (`undefined`: not a key of this client). Returns all that
 * verify, in their order, or why none does. A candidate for which `findSigner` throws cannot be judged, which says nothing
 * about the others: if none of them verifies, this throws the first of these errors.
 * @spec SIG-5 @spec SIG-20 @spec SIG-28
 */
export async function verifySignatures<Found extends { readonly key: PublicKey }>(
  candidates: readonly SignatureCandidate[],
  findSigner: (keyId: string) => Promise<Found | undefined>,
  cryptography: Cryptography,
): Promise<
  { readonly ok: true; readonly verified: readonly [VerifiedSignature<Found>, ...VerifiedSignature<Found>[]] } | Refusal
> {
  const verified: VerifiedSignature<Found>[] = []
  const failures: unknown[] = []
  let reason = 'keyid names no key of the client'
  for (const candidate of candidates) {
    let found: Found | undefined
    try {
      found = await findSigner(candidate.keyId)
    } catch (cause) {
      failures.push(cause)
    }
    if (found?.key.kid !== candidate.keyId) continue
    const base = await findSignedBase(candidate, publicKeyBytes(found.key), cryptography)
    if (base !== undefined) verified.push({ candidate, base, signer: found })
    else reason = 'signature does not verify'
  }
  const [first, ...others] = verified
  if (first !== undefined) return { ok: true, verified: [first, ...others] }
  if (failures.length > 0) throw failures[0]
  return refuse(reason)
}

async function findSignedBase(
  candidate: SignatureCandidate,
  publicKey: Uint8Array,
  cryptography: Cryptography,
): Promise<string | undefined> {
  // OpenSSL and libsodium disagree about such a first half; the second half, both check themselves.
  if (!isUsablePoint(candidate.signature.subarray(0, 32))) return undefined
  for (const base of candidate.bases) {
    if (await cryptography.verifyEd25519(publicKey, candidate.signature, toUtf8(base))) return base
  }
  return undefined
}
