import { type BareItem, type InnerList, type Item, isInnerList } from 'structured-headers'
import { fromBase64url } from '../protocol/bytes.ts'
import { parseStrictDictionary } from './dictionary.ts'
import type { LegacySyntax, SignatureInput } from './signature-input.ts'

const PHP_SIGNATURE = /^sig1=([A-Za-z0-9+/]{86})==$/
const RUST_SIGNATURE = /^([A-Za-z0-9+/]{86})==$/
const RUST_INPUT = /^sig1=(\((@?[a-z][a-z0-9-]*(?: @?[a-z][a-z0-9-]*)*)\);created=(\d{1,15});keyid="([^"\\]*)")$/

/**
 * Reads exactly two malformed forms, for a message that the strict reader could not read: the PHP SDK's, whose
 * Signature lacks the colons of a byte sequence, and the Rust SDK's, whose component names lack their quotes and whose
 * Signature is bare base64. Nothing else is relaxed: what it returns must pass every check that a well-formed signature
 * must pass.
 * @spec D2
 */
export function readLegacySignature(
  inputText: string,
  signatureText: string,
  accepted: readonly LegacySyntax[],
): SignatureInput | undefined {
  if (accepted.includes('php')) {
    const php = readPhpSignature(inputText, signatureText)
    if (php) return php
  }
  return accepted.includes('rust') ? readRustSignature(inputText, signatureText) : undefined
}

function readPhpSignature(inputText: string, signatureText: string): SignatureInput | undefined {
  const signature = decodeBase64(PHP_SIGNATURE.exec(signatureText)?.[1])
  const inputs = parseStrictDictionary(inputText)
  const covered = inputs?.size === 1 ? inputs.get('sig1') : undefined
  if (!signature || !covered || !isInnerList(covered)) return undefined
  return { covered, signature, legacySyntax: 'php' }
}

function readRustSignature(inputText: string, signatureText: string): SignatureInput | undefined {
  const signature = decodeBase64(RUST_SIGNATURE.exec(signatureText)?.[1])
  const [, signatureParams, names, created, keyId] = RUST_INPUT.exec(inputText) ?? []
  if (!signature || signatureParams === undefined || names === undefined || keyId === undefined) return undefined
  const components = names.split(' ').map((name): Item => [name, new Map<string, BareItem>()])
  const parameters = new Map<string, BareItem>([
    ['created', Number(created)],
    ['keyid', keyId],
  ])
  const covered: InnerList = [components, parameters]
  // The client signed its own unquoted text, so it is kept as sent and not serialised again.
  return { covered, signatureParams, signature, legacySyntax: 'rust' }
}

function decodeBase64(text: string | undefined): Uint8Array | undefined {
  return text === undefined ? undefined : fromBase64url(text.replaceAll('+', '-').replaceAll('/', '_'))
}
