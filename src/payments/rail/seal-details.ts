import type { Context } from '../../ports/context.ts'
import { fromBase64url, toBase64url, toUtf8 } from '../../protocol/bytes.ts'
import type { SealedDetails } from '../../protocol/delivery.ts'
import type { IlpPaymentMethod } from '../../protocol/payment-method.ts'

/**
 * Details of another server's incoming payment, sealed because no secret is ever stored in plain text. They are needed
 * until the fate of everything that left is known, and their server may stop returning them before that.
 */
export async function sealDetails(context: Context, details: IlpPaymentMethod): Promise<SealedDetails> {
  const secretId = await context.secrets.currentId()
  const nonce = context.secrets.randomId()
  const plain = toUtf8(details.sharedSecret)
  const sealed = toBase64url(await underKey(context, secretId, nonce, plain))
  return { ilpAddress: details.ilpAddress, sealed, nonce, secretId }
}

/**
 * The original details; `undefined` if the sealed text is damaged. Rejects if the secret that sealed them is not
 * configured.
 */
export async function openDetails(context: Context, details: SealedDetails): Promise<IlpPaymentMethod | undefined> {
  const { ilpAddress, sealed, nonce, secretId } = details
  const bytes = fromBase64url(sealed)
  if (bytes === undefined) return undefined
  const plain = await underKey(context, secretId, nonce, bytes)
  return { type: 'ilp', ilpAddress, sharedSecret: new TextDecoder().decode(plain) }
}

/**
 * HMAC-SHA-256 in counter mode: each block of the key stream is derived from the nonce and the block's number, and each
 * nonce is used once. Not authenticated: whoever can write to the storage can do worse than change this text.
 */
async function underKey(context: Context, secretId: string, nonce: string, bytes: Uint8Array): Promise<Uint8Array> {
  const result = bytes.slice()
  for (let at = 0; at < result.length; at += 32) {
    const block = await context.secrets.deriveBytes(secretId, 'receiver-secret', `${nonce}:${at / 32}`)
    for (const [index, byte] of block.entries()) {
      const place = at + index
      if (place < result.length) result[place] = (result[place] ?? 0) ^ byte
    }
  }
  return result
}
