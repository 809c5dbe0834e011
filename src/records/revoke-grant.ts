import type { Context } from '../ports/context.ts'
import type { Change, StoredRecord } from '../ports/storage.ts'
import { finaliseGrant } from '../protocol/grant.ts'
import { readRecord } from './read-record.ts'

/** The changes that end a grant and the token that it has, for one commit. @spec CON-8 */
export async function revokeGrantChanges(context: Context, record: StoredRecord<'grant'>): Promise<readonly Change[]> {
  const { kind, version, value } = record
  const token =
    value.tokenId === undefined ? undefined : await readRecord(context.storage, 'access-token', value.tokenId)
  const end: Change = { action: 'replace', kind, version, value: finaliseGrant(value, 'revoked') }
  return token === undefined
    ? [end]
    : [end, { ...token, action: 'replace', value: { ...token.value, state: 'revoked' } }]
}
