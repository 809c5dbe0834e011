import { webCryptography } from '../../src/index.ts'
import { isLedgerId } from '../../src/protocol/identifiers.ts'
import { creditIdOf as creditIdFrom } from '../../src/records/credit-id.ts'

/**
 * The id of the credit to a payee on this server, by the id of the payer's hold: what `audit()` calls `creditId`, for a hold
 * that no payment names any more. 32 hexadecimal digits. Rejects with a `TypeError` if `holdId` is not written like that, such
 * as a URL: of an id that was never given, a ledger has no credit, which looks as if nobody had been paid.
 */
export async function creditIdOf(holdId: string): Promise<string> {
  if (typeof holdId !== 'string' || !isLedgerId(holdId))
    throw new TypeError('creditIdOf: holdId must be 32 hexadecimal digits')
  return creditIdOfAny(holdId)
}

/** The same for whatever a ledger or a host has named. */
export function creditIdOfAny(id: string): Promise<string> {
  return creditIdFrom({ cryptography: webCryptography() }, id)
}
