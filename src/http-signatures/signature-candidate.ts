import type { BareItem } from 'structured-headers'
import type { Component } from './component-value.ts'
import { type Refusal, refuse } from './refusal.ts'
import { isCovered, readComponents, signatureBase, signatureParams } from './signature-base.ts'
import type { LegacySyntax, SignatureInput } from './signature-input.ts'
import type { SignedMessage } from './signed-message.ts'

/** What a signature must satisfy. */
export interface SignatureRules {
  /** @spec D1 */
  readonly profile: 'open-payments' | 'gnap'
  /** The malformed forms that are accepted nevertheless. @spec D2 */
  readonly legacySyntax: readonly LegacySyntax[]
  /** How far in the past `created` may be. @spec SIG-18 */
  readonly ageSeconds: number
  /** How far in the future `created` may be. @spec SIG-18 */
  readonly skewSeconds: number
  /** Milliseconds since 1970. */
  readonly now: number
}

/** A signature that satisfies every rule that needs no key. */
export interface SignatureCandidate {
  readonly keyId: string
  /** 64 bytes. */
  readonly signature: Uint8Array
  /** One signature base for each `@target-uri` of the message. */
  readonly bases: readonly string[]
  /** Seconds since 1970. */
  readonly created: number
  readonly nonce?: string
  /** Which malformed form it had, if any. @spec D2 */
  readonly legacySyntax?: LegacySyntax
}

/** The longest keyid and the longest nonce, in characters. @spec SIG-35 */
const MAXIMUM_PARAMETER_LENGTH = 256

/** Checks one signature against every rule that needs no key: parameters, coverage, time. @spec SIG-34 */
export function readCandidate(
  input: SignatureInput,
  message: SignedMessage,
  rules: SignatureRules,
): { readonly ok: true; readonly candidate: SignatureCandidate } | Refusal {
  const [items, parameters] = input.covered
  const read = readComponents(items)
  if (!read.ok) return read
  const parametersRead = readParameters(parameters, rules)
  if (!parametersRead.ok) return parametersRead
  const missing = missingComponent(read.components, message)
  if (missing !== undefined) return refuse(`"${missing}" is not covered`)

  const params = input.signatureParams ?? signatureParams(read.components, parameters)
  const bases: string[] = []
  for (const targetUri of message.targetUris) {
    const result = signatureBase(read.components, params, message, targetUri)
    if (!result.ok) return result
    bases.push(result.base)
  }
  const untimely = judgeTime(parametersRead, rules)
  if (untimely !== undefined) return refuse(untimely)
  const { keyId, created, nonce } = parametersRead
  return {
    ok: true,
    candidate: {
      keyId,
      signature: input.signature,
      bases,
      created,
      ...(nonce !== undefined && { nonce }),
      ...(input.legacySyntax && { legacySyntax: input.legacySyntax }),
    },
  }
}

interface SignatureParameters {
  readonly ok: true
  readonly keyId: string
  readonly created: number
  readonly expires?: number
  readonly nonce?: string
}

/** @spec SIG-18 @spec SIG-19 @spec SIG-20 @spec SIG-21 @spec SIG-22 @spec SIG-35 */
function readParameters(
  parameters: ReadonlyMap<string, BareItem>,
  rules: SignatureRules,
): SignatureParameters | Refusal {
  const tag = parameters.get('tag')
  if (tag !== 'gnap' && (tag !== undefined || rules.profile === 'gnap')) return refuse('tag is not "gnap"')
  const alg = parameters.get('alg')
  if (alg !== undefined && rules.profile === 'gnap') return refuse('alg is not allowed')
  if (alg !== undefined && alg !== 'ed25519') return refuse('alg is not "ed25519"')

  const keyId = parameters.get('keyid')
  if (typeof keyId !== 'string') return refuse('keyid is missing or no string')
  if (keyId.length > MAXIMUM_PARAMETER_LENGTH) return refuse('keyid is too long')
  const nonce = parameters.get('nonce')
  if (nonce !== undefined && typeof nonce !== 'string') return refuse('nonce is no string')
  if (nonce !== undefined && nonce.length > MAXIMUM_PARAMETER_LENGTH) return refuse('nonce is too long')

  const created = parameters.get('created')
  if (!isInteger(created)) return refuse('created is missing or no integer')
  const expires = parameters.get('expires')
  if (expires !== undefined && !isInteger(expires)) return refuse('expires is no integer')
  return { ok: true, keyId, created, ...(expires !== undefined && { expires }), ...(nonce !== undefined && { nonce }) }
}

function isInteger(value: BareItem | undefined): value is number {
  return Number.isInteger(value)
}

/**
 * The first component that must be covered and is not. `authorization` is required only if it is present: a request
 * that needs a token but has none is refused before this.
 * @spec SIG-6 @spec SIG-7 @spec SIG-8
 */
function missingComponent(components: readonly Component[], message: SignedMessage): string | undefined {
  const required = ['@method', '@target-uri']
  if (message.headerLines('authorization').length > 0) required.push('authorization')
  if (message.body.length > 0) required.push('content-digest')
  return required.find((name) => !isCovered(components, name))
}

/** @spec SIG-18 @spec SIG-19 */
function judgeTime({ created, expires }: SignatureParameters, rules: SignatureRules): string | undefined {
  // Clients give whole seconds, so the age is counted in whole seconds too; what expires does so to the millisecond.
  const age = Math.floor(rules.now / 1000) - created
  if (age > rules.ageSeconds) return 'signature is too old'
  if (age < -rules.skewSeconds) return 'signature is from the future'
  if (expires === undefined) return undefined
  if (expires < created) return 'expires is before created'
  return rules.now > expires * 1000 ? 'signature has expired' : undefined
}
