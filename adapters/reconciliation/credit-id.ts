import { webCryptography } from '../../src/index.ts'
import { creditIdOf as creditIdFrom } from '../../src/records/credit-id.ts'

/**
 * The id of the credit to a payee on this server, by the id of the payer's hold: what `audit()` calls `creditId`, for a hold
 * that no payment names any more. 32 hexadecimal digits.
 */
export function creditIdOf(holdId: string): Promise<string> {
  return creditIdFrom({ cryptography: webCryptography() }, holdId)
}
