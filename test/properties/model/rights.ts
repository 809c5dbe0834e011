import { type Entry, type Expected, INACTIVE, type Model, ownerOf, refused, type TokenModel } from './state.ts'

/** Who calls the resource server: what stands in `Authorization`, and whose key signs. */
export interface Caller {
  readonly presented: string | undefined
  readonly signer: number
}

export type Identified = { readonly token: TokenModel } | { readonly refusal: Expected }

/** Token, then signature, then right. */
export function identify(model: Model, now: number, caller: Caller, type: string, action: string): Identified {
  if (caller.presented === undefined) return { refusal: refused(401, 'unauthorized') }
  const token = model.tokens.find(({ value }) => value === caller.presented)
  if (token === undefined || !isUsable(token, now)) return { refusal: refused(401, 'invalid_token') }
  if (token.grant.client !== caller.signer) return { refusal: refused(401, 'invalid_signature') }
  const hasRight = token.grant.access.some((entry) => holds(entry, type, action))
  return hasRight ? { token } : { refusal: refused(403, 'insufficient_grant') }
}

export const isUsable = ({ state, expiresAt, isForgotten }: TokenModel, now: number): boolean =>
  state === 'active' && now < expiresAt && !isForgotten

export function holds(entry: Entry, type: string, action: string): boolean {
  const isNamed = entry.actions.includes(action)
  const isImplied = (action === 'read' || action === 'list') && entry.actions.includes(`${action}-all`)
  return entry.type === type && (isNamed || isImplied)
}

export const covers = ({ identifier }: Entry, walletAddress: string): boolean =>
  identifier === undefined || identifier === walletAddress

/** Whether a token may do this at a wallet address, and whether that is one that takes part. */
export function refuseAddress(
  token: TokenModel,
  type: string,
  action: string,
  walletAddress: string,
): Expected | undefined {
  const isCovered = token.grant.access.some((entry) => holds(entry, type, action) && covers(entry, walletAddress))
  if (!isCovered) return refused(403, 'insufficient_grant')
  if (walletAddress === INACTIVE) return refused(400, 'inactive_wallet_address')
  return ownerOf(walletAddress) === undefined ? refused(404, 'unknown_wallet_address') : undefined
}

/** Whether a token sees what a client has made on a wallet address. */
export function sees(
  token: TokenModel,
  type: string,
  action: 'read' | 'list',
  made: { readonly walletAddress: string; readonly client: number },
): boolean {
  return token.grant.access.some(
    (entry) =>
      holds(entry, type, action) &&
      covers(entry, made.walletAddress) &&
      (made.client === token.grant.client || entry.actions.includes(`${action}-all`)),
  )
}
