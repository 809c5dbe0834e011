import type { Context } from '../ports/context.ts'
import type { Change, StoredRecord } from '../ports/storage.ts'
import { finaliseGrant, type Grant, wasGiven } from '../protocol/grant.ts'
import { unmarked } from './change.ts'
import { readRecord } from './read-record.ts'
import { OVER_KEPT_MILLISECONDS } from './retention.ts'

/** The change that writes a grant which is over. If its owner did not give it, it is deleted after 30 days. */
export function endGrantChange(context: Context, record: StoredRecord<'grant'>, value: Grant): Change {
  const dueAt = context.clock.now() + OVER_KEPT_MILLISECONDS
  return { ...unmarked(record), action: 'replace', value, ...(!wasGiven(value) && { dueAt }) }
}

/**
 * The changes that revoke a grant and the token that it has, for one commit. `known`: that token, if it was read before.
 * @spec CON-8
 */
export async function revokeGrantChanges(
  context: Context,
  record: StoredRecord<'grant'>,
  known?: StoredRecord<'access-token'>,
): Promise<readonly Change[]> {
  const token = known ?? (await readRecord(context.storage, 'access-token', record.value.tokenId))
  const end = endGrantChange(context, record, finaliseGrant(record.value, 'revoked'))
  return token === undefined ? [end] : [end, revokeTokenChange(context, token)]
}

/** The change that revokes a token. The record is kept for 30 more days, so that revoking it again is not an error. */
function revokeTokenChange(context: Context, record: StoredRecord<'access-token'>): Change {
  const dueAt = context.clock.now() + OVER_KEPT_MILLISECONDS
  return { ...unmarked(record), action: 'replace', value: { ...record.value, state: 'revoked' }, dueAt }
}
