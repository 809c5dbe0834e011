import type { Clock } from '../ports/clock.ts'
import type { OutboundStanding } from '../ports/outbound-requests.ts'
import type { ServerKeys } from '../ports/server-keys.ts'
import { recentlyUsed } from '../protocol/recently-used.ts'
import { type Failure, type ForeignToken, parseGrant, parseGranted, readAnswer } from './answers.ts'
import type { SendSigned } from './request-sender.ts'

/** A token that this server holds. */
export interface HeldToken extends ForeignToken {
  /** When it was requested: its lifetime is counted from then. */
  readonly askedAt: number
}

/** A token, or why there is none. `isNew`: it was not held before this call. */
export type TokenResult = { readonly ok: true; readonly token: HeldToken; readonly isNew: boolean } | Failure

/** The access tokens with which this server reads incoming payments on other servers. */
export interface AccessTokens {
  /**
   * A token of `authServer` for the payments of one collection, and for nothing else. `standing` is that of
   * `authServer`, which is known if one of its tokens has worked there before. `refused` is a token that was refused
   * there: it is never returned again.
   */
  tokenFor(
    collection: string,
    authServer: string,
    standing: OutboundStanding,
    refused?: HeldToken,
  ): Promise<TokenResult>
}

/** What it takes to get tokens. */
export interface AccessTokensOptions {
  readonly clock: Clock
  readonly sendSigned: SendSigned
  readonly serverKeys: ServerKeys
  /** The wallet address that this server names as a client where its key alone is not accepted. */
  readonly clientWalletAddress?: string
}

/**
 * Holds a token per collection and authorization server, so that no server is ever sent a token that was given for
 * another one's payments. An expired token is rotated or, if that fails, requested anew; concurrent calls for one token
 * share one request.
 */
export function accessTokens(options: AccessTokensOptions): AccessTokens {
  const { clock, sendSigned, serverKeys, clientWalletAddress } = options
  const held = recentlyUsed<HeldToken>()
  const running = new Map<string, Promise<TokenResult>>()
  /** The servers that accept this one by its wallet address, not by its key alone. */
  const takenByAddress = recentlyUsed<true>()

  const isExpired = ({ askedAt, expiresIn }: HeldToken): boolean =>
    expiresIn !== undefined && clock.now() >= askedAt + expiresIn * 1000

  /**
   * Requests a grant as a client identified by its key and, if that is refused, by its wallet address; the way that
   * worked last time is tried first.
   */
  async function requestGrant(authServer: string, standing: OutboundStanding): Promise<TokenResult> {
    const { jwk } = await serverKeys.current()
    const isByAddress = takenByAddress.get(authServer) === true
    const clients = clientWalletAddress === undefined ? [{ jwk }] : [{ jwk }, clientWalletAddress]
    const [first, second] = isByAddress ? clients.toReversed() : clients
    const result = await askForGrant(authServer, first, standing)
    if (result.ok || result.reason !== 'refused' || second === undefined) return result
    const other = await askForGrant(authServer, second, standing)
    if (other.ok && isByAddress) takenByAddress.delete(authServer)
    else if (other.ok) takenByAddress.set(authServer, true)
    return other
  }

  async function askForGrant(authServer: string, client: unknown, standing: OutboundStanding): Promise<TokenResult> {
    const askedAt = clock.now()
    const answer = await sendSigned(
      {
        method: 'POST',
        url: authServer,
        json: { access_token: { access: [{ type: 'incoming-payment', actions: ['read-all'] }] }, client },
      },
      { standing },
    )
    const step = `grant at ${authServer}`
    const read = readAnswer(step, answer, parseGrant)
    if (!read.ok) return read.reason === 'unknown' ? { ...read, reason: 'refused' } : read
    if (read.value === 'interaction') return { ok: false, reason: 'refused', detail: `${step}: needs a person` }
    return { ok: true, token: { ...read.value, askedAt }, isNew: true }
  }

  /** Rotates a token, but only at the origin that issued it: its value is sent to nobody else. */
  async function rotate(
    { value, manage }: HeldToken,
    authServer: string,
    standing: OutboundStanding,
  ): Promise<HeldToken | undefined> {
    if (new URL(manage).origin !== new URL(authServer).origin) return undefined
    const askedAt = clock.now()
    const sending = { standing: standing === 'ordered' ? standing : 'known' } as const
    const answer = await sendSigned({ method: 'POST', url: manage, token: value }, sending)
    const read = readAnswer('rotation', answer, parseGranted)
    return read.ok ? { ...read.value, askedAt } : undefined
  }

  async function renew(
    name: string,
    authServer: string,
    standing: OutboundStanding,
    expired: HeldToken | undefined,
  ): Promise<TokenResult> {
    const before = held.get(name)
    const rotated = expired && (await rotate(expired, authServer, standing))
    const result: TokenResult = rotated
      ? { ok: true, token: rotated, isNew: true }
      : await requestGrant(authServer, standing)
    if (result.ok) held.set(name, result.token)
    // Keep a token that a renewal of another standing has brought meanwhile.
    else if (held.get(name) === before) held.delete(name)
    return result
  }

  return {
    async tokenFor(collection, authServer, standing, refused) {
      const name = `${collection} ${authServer}`
      const found = held.get(name)
      const usable = found === refused ? undefined : found
      if (usable !== undefined && !isExpired(usable)) return { ok: true, token: usable, isNew: false }
      // Separate for each standing: a refusal for want of budget must not hit callers of another standing.
      const run = `${name} ${standing}`
      const renewal = running.get(run) ?? renew(name, authServer, standing, usable).finally(() => running.delete(run))
      running.set(run, renewal)
      return renewal
    },
  }
}
