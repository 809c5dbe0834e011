import {
  idempotencyConflict,
  inactiveWalletAddress,
  insufficientGrant,
  ledgerRefused,
  unexpected,
  unknownResource,
  unknownWalletAddress,
} from '../errors/conditions.ts'
import type { TokenCaller } from '../http/credentials.ts'
import { findCanonicalWalletAddress, type LocalWalletAddress } from '../http/local-wallet-address.ts'
import { checkLedgerAccount } from '../payments/ask-ledger.ts'
import type { Context } from '../ports/context.ts'
import {
  type Access,
  type AccessType,
  type Action,
  allowsAction,
  coversWalletAddress,
  needsConsent,
} from '../protocol/access.ts'
import type { AccessToken } from '../protocol/access-token.ts'
import type { ClientId } from '../protocol/client.ts'
import { canonicalWalletAddress } from '../protocol/wallet-address.ts'
import { tellOtherAccount } from '../records/tell-other-account.ts'

/** Step 5 of the pipeline: refuses a token without any entry of this type and action. */
export function requireRight(type: AccessType, action: Action): (caller: TokenCaller) => void {
  return ({ token }) => {
    if (entriesOf(token, type, action).length === 0) throw insufficientGrant()
  }
}

function entriesOf({ access }: AccessToken, type: AccessType, action: Action): readonly Access[] {
  return access.filter((entry) => entry.type === type && allowsAction(entry, action))
}

/**
 * Refuses if no entry of this type and action covers the wallet address that a request names. Returns its canonical
 * URL, if it has one (`activeWalletAddress` refuses what has none). The directory is not asked: a token for one wallet
 * address learns nothing about another, not even whether it exists.
 * @spec RS-4 @spec RS-5
 */
export function requireRightTo(
  context: Context,
  { token }: TokenCaller,
  type: AccessType,
  action: Action,
  text: string,
): string | undefined {
  const url = canonicalWalletAddress(text, context.policies)
  if (entriesCovering(context, token, type, action, url ?? text).length === 0) throw insufficientGrant()
  return url
}

/**
 * The entries that also cover a wallet address. If rights of this type need consent, only what the owner of the wallet
 * address gave counts, even if the token is of a time when they did not.
 * @spec GRT-5
 */
function entriesCovering(
  { policies }: Context,
  token: AccessToken,
  type: AccessType,
  action: Action,
  walletAddress: string,
): readonly Access[] {
  if (needsConsent(type, policies.withoutInteraction) && token.walletAddress !== walletAddress) return []
  return entriesOf(token, type, action).filter((entry) => coversWalletAddress(entry, walletAddress))
}

/**
 * Finds the wallet address that a request has the right to; it must exist and be active. If it now has another account
 * than the one that the token was given for, the token is refused as if it did not cover the address: what one owner
 * granted does not bind the next.
 * @spec RS-13
 */
export async function activeWalletAddress(
  context: Context,
  { token }: TokenCaller,
  url: string | undefined,
): Promise<LocalWalletAddress> {
  const found = await findCanonicalWalletAddress(context, url)
  if (found === undefined) throw unknownWalletAddress()
  if (isOfOtherAccount(token, { walletAddress: found.url, account: found.account })) {
    tellOtherAccount(context, token, found.account)
    throw insufficientGrant()
  }
  if (!found.isActive) throw inactiveWalletAddress()
  return found
}

/** What decides who may see a stored resource. */
export interface Resource {
  readonly walletAddress: string
  readonly account: string
  readonly client: ClientId
}

/**
 * Whether a token was given for this wallet address when it had a different account than `account`, which a resource
 * belongs to or the directory names now.
 * @spec RS-13
 */
export function isOfOtherAccount(token: AccessToken, { walletAddress, account }: Omit<Resource, 'client'>): boolean {
  return token.walletAddress === walletAddress && token.account !== account
}

/**
 * The client whose resources a token lists on a wallet address: its own, or `undefined` (every client's) with `list-all`.
 * @spec RS-6 @spec RS-7
 */
export function visibleClient(
  context: Context,
  { token }: TokenCaller,
  type: AccessType,
  walletAddress: string,
): ClientId | undefined {
  return seesAll(entriesCovering(context, token, type, 'list', walletAddress), 'list') ? undefined : token.client
}

function seesAll(entries: readonly Access[], action: Action): boolean {
  return entries.some(({ actions }) => actions.some((held) => held === `${action}-all`))
}

/**
 * Refuses to repeat the answer to what a client created under its key, if the token was given for a different account than
 * that was created for: it must not look as if the one owner had what the client made for the other.
 * @spec RS-13
 */
export function requireSameAccount({ token }: TokenCaller, created: Omit<Resource, 'client'>): void {
  if (isOfOtherAccount(token, created)) throw idempotencyConflict()
}

/**
 * Refuses a resource that the token gives no such right to in exactly the same way as one that does not exist. Another
 * client's takes the `-all` form of the action, which one that changes something does not have.
 * @spec RS-8 @spec T-38
 */
export function requireResource<R extends Resource>(
  context: Context,
  { token }: TokenCaller,
  type: AccessType,
  action: 'read' | 'complete',
  resource: R | undefined,
): R {
  if (resource === undefined) throw unknownResource()
  const covering = entriesCovering(context, token, type, action, resource.walletAddress)
  const isCovered = resource.client === token.client ? covering.length > 0 : seesAll(covering, action)
  if (!isCovered || isOfOtherAccount(token, resource)) throw unknownResource()
  return resource
}

/**
 * Refuses if the ledger does not have the account or, if `right` is given, does not let it send or receive. If
 * directory and ledger disagree on its asset, the wallet has made a mistake: "unexpected", not a refusal that a client
 * could act on.
 * @spec D15
 */
export async function requireLedgerAccount(
  context: Context,
  walletAddress: LocalWalletAddress,
  right?: 'canSend' | 'canReceive',
): Promise<void> {
  const checked = await checkLedgerAccount(context, walletAddress.url, walletAddress, right)
  if (checked === 'wrong_asset') throw unexpected()
  if (checked === 'not_allowed') throw ledgerRefused('not_allowed')
}
