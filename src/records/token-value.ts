import type { Secrets } from '../ports/secrets.ts'
import type { AccessToken } from '../protocol/access-token.ts'

// Each is sliced from its end, which has a fixed length: what an earlier version made has no time before it.
const timeOfManageId = (manageId: string): string => manageId.slice(-44, -32)
const timeOfValue = (value: string): string => value.slice(-55, -43)

/**
 * The value of an access token: the digits of the time with which `manageId` begins, then a secret derived from that id.
 * So it can be given again without being stored.
 * @spec TOK-10
 */
export async function tokenValueOf(
  secrets: Secrets,
  { secretId, manageId }: Pick<AccessToken, 'secretId' | 'manageId'>,
): Promise<string> {
  return timeOfManageId(manageId) + (await secrets.derive(secretId, 'access-token', manageId))
}

/**
 * The id of the record of a token with this value: the digits of its time again, so that new tokens are stored beside
 * each other, then the digest of all of it.
 * @spec TOK-1
 */
export async function tokenIdOf(secrets: Secrets, value: string): Promise<string> {
  return timeOfValue(value) + (await secrets.digest(value))
}
