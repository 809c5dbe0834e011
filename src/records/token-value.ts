import type { Secrets } from '../ports/secrets.ts'
import type { AccessToken } from '../protocol/access-token.ts'
import { timeDigitsOf } from '../protocol/identifiers.ts'

/** The values that this server gives: the digits of a time, then 256 bits in base64url. */
const TOKEN_VALUE = /^[0-9a-f]{12}[\w-]{43}$/

/**
 * The value of an access token: the digits of the time with which `manageId` begins, then a secret derived from that id.
 * So it can be given again without being stored.
 * @spec TOK-10
 */
export async function tokenValueOf(
  secrets: Secrets,
  { secretId, manageId }: Pick<AccessToken, 'secretId' | 'manageId'>,
): Promise<string> {
  return timeDigitsOf(manageId) + (await secrets.derive(secretId, 'access-token', manageId))
}

/**
 * The id of the record of a token with this value: the digits of its time again, so that new tokens are stored beside
 * each other, then the digest of all of it. Of a text that cannot be a token of this server, only the digest
 * gets into the id.
 * @spec TOK-1
 */
export async function tokenIdOf(secrets: Secrets, value: string): Promise<string> {
  return (TOKEN_VALUE.test(value) ? timeDigitsOf(value) : '') + (await secrets.digest(value))
}
