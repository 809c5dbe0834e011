import type { Context } from '../../ports/context.ts'
import type { SealedDetails } from '../../protocol/delivery.ts'
import { fromBase64url, toBase64url, toUtf8 } from '../../protocol/identifiers.ts'
import type { IlpPaymentMethod } from '../../protocol/payment-method.ts'

/**
 * Details of another server's incoming payment, sealed because no secret is ever stored in plain text. They are needed until
 * the fate of all that left is known, and by then their server may no longer return them.
 */
export async function sealDetails(context: Context, details: IlpPaymentMethod): Promise<SealedDetails> {
  const secretId = await context.secrets.currentId()
  const nonce = context.secrets.randomId()
  const plain = toUtf8(details.sharedSecret)
  const sealed = toBase64url(await underKey(context, secretId, nonce, plain))
  return { ilpAddress: details.ilpAddress, sealed, nonce, secretId }
}

/** The details as they were; `undefined` if they cannot be read. Rejects if the secret that sealed them is not configured. */
export async function openDetails(context: Context, details: SealedDetails): Promise<IlpPaymentMethod | undefined> {
  const { ilpAddress, sealed, nonce, secretId } = details
  const bytes = fromBase64url(sealed)
  if (bytes === undefined) return undefined
  const plain = await underKey(context, secretId, nonce, bytes)
  return { type: 'ilp', ilpAddress, sharedSecret: new TextDecoder().decode(plain) }
}

/**
 * HMAC-SHA-256 in counter mode: each block of the key stream is derived from the nonce and its number, and each nonce seals
 * once. Whoever may write to the storage may do worse than change what it hides, so it is not authenticated.
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
