import { thrownMessage } from '../../errors/thrown-message.ts'
import type { IlpPaymentMethod } from '../../protocol/payment-method.ts'

/**
 * Calls a payment method with the details of an incoming payment. They contain a secret, and error messages tend to
 * repeat arguments: if the call fails, this rejects without the secret.
 * @spec T-34
 */
export async function askRail<T>(
  { sharedSecret }: Pick<IlpPaymentMethod, 'sharedSecret'>,
  call: () => Promise<T>,
): Promise<T> {
  try {
    return await call()
  } catch (cause) {
    throw new Error(hideSecret(thrownMessage(cause), { sharedSecret }))
  }
}

/** What a payment method says about a payment, without the secret of that payment. @spec T-34 */
export function hideSecret(said: string, { sharedSecret }: Pick<IlpPaymentMethod, 'sharedSecret'>): string {
  return said.replaceAll(sharedSecret, '…')
}
