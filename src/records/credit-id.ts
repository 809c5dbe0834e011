import type { Context } from '../ports/context.ts'
import { toHex, toUtf8 } from '../protocol/bytes.ts'

/** The id of the credit that pays a local receiver: 128 bits of SHA-256 over the payment's id. @spec OUT-6 */
export async function creditIdOf(
  { cryptography }: Pick<Context, 'cryptography'>,
  outgoingPaymentId: string,
): Promise<string> {
  const digest = await cryptography.sha256(toUtf8(`credit:${outgoingPaymentId}`))
  return toHex(digest).slice(0, 32)
}
