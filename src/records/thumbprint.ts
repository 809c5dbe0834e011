import type { Context } from '../ports/context.ts'
import { toBase64url, toUtf8 } from '../protocol/bytes.ts'
import { type PublicKey, thumbprintInput } from '../protocol/json-web-key.ts'

/** RFC 7638 thumbprint: base64url of SHA-256. @spec KEY-8 */
export async function thumbprintOf({ cryptography }: Context, key: PublicKey): Promise<string> {
  return toBase64url(await cryptography.sha256(toUtf8(thumbprintInput(key))))
}
