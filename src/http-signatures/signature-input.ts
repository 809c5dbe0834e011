import { type InnerList, type Item, isInnerList } from 'structured-headers'
import { type ReadDictionary, readDictionary } from './dictionary.ts'
import { type Refusal, refuse } from './refusal.ts'

/** The two deployed SDKs whose signature headers are not valid structured fields, by language. @spec D2 */
export type LegacySyntax = 'php' | 'rust'

/** One signature of a message, read but not judged. Its label is dropped: it has no meaning. @spec SIG-3 */
export interface SignatureInput {
  /** The covered components in order, and the parameters of the signature. */
  readonly covered: InnerList
  /**
   * The text after `"@signature-params": ` in the signature base, if it differs from the serialised `covered`.
   * @spec D2
   */
  readonly signatureParams?: string
  /** 64 bytes. */
  readonly signature: Uint8Array
  /** Which malformed form it had, if any. @spec D2 */
  readonly legacySyntax?: LegacySyntax
}

/** A signature, or why it is unusable. */
export type SignatureInputResult = { readonly ok: true; readonly input: SignatureInput } | Refusal

/** @spec SIG-5 @spec SIG-35 */
const MAXIMUM_LABELS = 4
/** An Ed25519 signature, in bytes. @spec SIG-28 */
const SIGNATURE_LENGTH = 64

/**
 * The signatures whose label is in both fields, in the order of Signature-Input. `malformed` if a field is not a
 * dictionary, so that the legacy reader may be tried.
 * @spec SIG-1 @spec SIG-4
 */
export function readSignatureInputs(
  inputText: string,
  signatureText: string,
): { readonly ok: true; readonly inputs: readonly SignatureInputResult[] } | Refusal | 'malformed' {
  const inputs = readDictionary(inputText)
  const signatures = readDictionary(signatureText)
  if (inputs === undefined || signatures === undefined) return 'malformed'
  if (inputs.dictionary.size > MAXIMUM_LABELS || signatures.dictionary.size > MAXIMUM_LABELS)
    return refuse(`there are more than ${MAXIMUM_LABELS} signatures`)
  return { ok: true, inputs: pairByLabel(inputs, signatures) }
}

function pairByLabel(inputs: ReadDictionary, signatures: ReadDictionary): SignatureInputResult[] {
  const pairs: SignatureInputResult[] = []
  for (const [label, covered] of inputs.dictionary) {
    const signature = signatures.dictionary.get(label)
    if (signature === undefined) continue
    // @spec SIG-17
    const isInexact = inputs.decimals.has(label) || signatures.decimals.has(label)
    pairs.push(isInexact ? refuse('a signature must not hold decimals') : readPair(covered, signature))
  }
  return pairs
}

function readPair(covered: Item | InnerList, [signature]: Item | InnerList): SignatureInputResult {
  if (!isInnerList(covered)) return refuse('Signature-Input must be a list of components')
  if (!(signature instanceof ArrayBuffer)) return refuse('Signature must be a byte sequence')
  if (signature.byteLength !== SIGNATURE_LENGTH) return refuse(`an Ed25519 signature has ${SIGNATURE_LENGTH} bytes`)
  return { ok: true, input: { covered, signature: new Uint8Array(signature) } }
}
