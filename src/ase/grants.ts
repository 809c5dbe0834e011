import type { Context } from '../ports/context.ts'
import type { Access } from '../protocol/access.ts'
import { decide } from '../records/decide.ts'
import { revokeGrantChanges } from '../records/end-grant.ts'
import { readRecord, recordsOfKind } from '../records/read-record.ts'
import { requireWalletAddress } from './require-wallet-address.ts'

/** A grant that the owner of a wallet address has given and that is still live. */
export interface LiveGrant {
  readonly id: string
  /** The client's wallet address. */
  readonly client: string
  readonly access: readonly Access[]
  /** Milliseconds since 1970. */
  readonly issuedAt: number
}

/** What an account's owner can do about the grants they have given. */
export interface Grants {
  /**
   * The live grants on a wallet address, newest first; `after` is the id of the last one seen. Rejects with `TypeError` where
   * the text is no wallet address, and with `RangeError` where `after` is no grant of it.
   */
  list(
    walletAddress: string,
    page?: { readonly limit?: number; readonly after?: string },
  ): Promise<readonly LiveGrant[]>
  /**
   * Ends a grant and its token in one commit. `walletAddress` is that of the person who revokes: `false` where the
   * grant is not theirs, is over already, or never existed. Rejects with `TypeError` where the text is no wallet address.
   */
  revoke(walletAddress: string, grantId: string): Promise<boolean>
}

/** The grants of a server, for the wallet. */
export function createGrants(context: Context): Grants {
  return {
    list: async (walletAddress, page = {}) =>
      listGrants(context, requireWalletAddress(context, walletAddress), page.limit ?? 50, page.after),
    revoke: async (walletAddress, grantId) =>
      revokeGrant(context, requireWalletAddress(context, walletAddress), grantId),
  }
}

async function listGrants(
  context: Context,
  walletAddress: string,
  limit: number,
  afterId?: string,
): Promise<readonly LiveGrant[]> {
  const last = afterId === undefined ? undefined : await readRecord(context.storage, 'grant', afterId)
  if (afterId !== undefined && last?.value.walletAddress !== walletAddress)
    throw new RangeError('after names no grant of this wallet address')
  const after = last && { createdAt: last.value.createdAt, id: last.value.id }
  const records = await context.storage.list({
    kind: 'grant',
    walletAddress,
    direction: 'older',
    limit,
    ...(after && { after }),
  })
  return recordsOfKind(records, 'grant').map(({ value }) => ({
    id: value.id,
    client: value.client,
    access: value.access,
    issuedAt: value.issuedAt ?? value.createdAt,
  }))
}

async function revokeGrant(context: Context, walletAddress: string, grantId: string): Promise<boolean> {
  return decide<boolean>(context, async () => {
    const record = await readRecord(context.storage, 'grant', grantId)
    if (record?.value.walletAddress !== walletAddress || record.value.state === 'finalised') return { answer: false }
    return { changes: await revokeGrantChanges(context, record), answer: true }
  })
}
