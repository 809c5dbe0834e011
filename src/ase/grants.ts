import type { Context } from '../ports/context.ts'
import type { Access } from '../protocol/access.ts'
import { decide } from '../records/decide.ts'
import { revokeGrantChanges } from '../records/end-grant.ts'
import { readNamed, recordsOfKind } from '../records/read-record.ts'
import { requireWalletAddress } from './require-wallet-address.ts'

/** A grant that the owner of a wallet address has given and that is still live. */
export interface LiveGrant {
  /** What `revoke` and `after` take; not a URL. */
  readonly id: string
  /** The client's wallet address. */
  readonly client: string
  readonly access: readonly Access[]
  /** Milliseconds since 1970. */
  readonly issuedAt: number
}

/** What the owner of an account can do with the grants that they gave. */
export interface Grants {
  /**
   * The live grants on a wallet address, newest first, `limit` at a time: 1 to 100, default 50. `after` is the id of the last
   * one seen; an empty list is the end. Rejects with `TypeError` if the text is not a wallet address under this server's
   * `walletAddressServer`, and with `RangeError` if `limit` is out of range or `after` is not a grant on this wallet address.
   */
  list(
    walletAddress: string,
    page?: { readonly limit?: number | undefined; readonly after?: string | undefined },
  ): Promise<readonly LiveGrant[]>
  /**
   * Ends a grant and its token in one commit. `walletAddress` is that of the person who revokes: resolves with `false` if the
   * grant is not theirs, is already over, or never existed. Rejects with `TypeError` if the text is not a wallet address of
   * this server.
   */
  revoke(walletAddress: string, grantId: string): Promise<boolean>
}

const DEFAULT_LIMIT = 50
const MAXIMUM_LIMIT = 100

/** The grants of a server, for the wallet. */
export function createGrants(context: Context): Grants {
  return {
    list: async (walletAddress, page = {}) =>
      listGrants(context, requireWalletAddress(context, walletAddress), page.limit ?? DEFAULT_LIMIT, page.after),
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
  if (!Number.isInteger(limit) || limit < 1 || limit > MAXIMUM_LIMIT)
    throw new RangeError(`limit must be an integer from 1 to ${MAXIMUM_LIMIT}`)
  const last = await readNamed(context.storage, 'grant', afterId)
  if (afterId !== undefined && last?.value.walletAddress !== walletAddress)
    throw new RangeError('after is not a grant on this wallet address')
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
    const record = await readNamed(context.storage, 'grant', grantId)
    if (record?.value.walletAddress !== walletAddress || record.value.state === 'finalised') return { answer: false }
    return { changes: await revokeGrantChanges(context, record), answer: true }
  })
}
