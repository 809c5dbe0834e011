import type { Cryptography } from '../ports/cryptography.ts'
import { isEqualBytes, toBase64 } from '../protocol/bytes.ts'
import { parseStrictDictionary } from './dictionary.ts'
import { combineFieldLines, MAXIMUM_FIELD_LENGTH } from './field-value.ts'
import { type Refusal, refuse } from './refusal.ts'

/**
 * Checks a Content-Digest field (all its lines) against the raw bytes. It must have at least one sha-256 or sha-512,
 * and every one of them must be right; other algorithms are ignored.
 * @spec DIG-1 @spec DIG-2 @spec DIG-3 @spec DIG-4 @spec SIG-35
 */
export async function verifyContentDigest(
  lines: readonly string[],
  body: Uint8Array,
  cryptography: Cryptography,
): Promise<{ readonly ok: true } | Refusal> {
  const text = combineFieldLines(lines)
  if (text !== undefined && text.length > MAXIMUM_FIELD_LENGTH) return refuse('Content-Digest is too long')
  const digests = text === undefined ? undefined : parseStrictDictionary(text)
  if (digests === undefined) return refuse('Content-Digest is malformed')

  let isVerified = false
  for (const [algorithm, [digest]] of digests) {
    if (algorithm !== 'sha-256' && algorithm !== 'sha-512') continue
    if (!(digest instanceof ArrayBuffer)) return refuse('Content-Digest is malformed')
    const expected = await (algorithm === 'sha-256' ? cryptography.sha256(body) : cryptography.sha512(body))
    if (!isEqualBytes(new Uint8Array(digest), expected)) return refuse('Content-Digest is not that of the body')
    isVerified = true
  }
  return isVerified ? { ok: true } : refuse('Content-Digest must carry sha-256 or sha-512')
}

/** The Content-Digest field for a body, with sha-512 as every deployed client sends it. */
export async function contentDigest(body: Uint8Array, cryptography: Cryptography): Promise<string> {
  return `sha-512=:${toBase64(await cryptography.sha512(body))}:`
}
