import type { Clock } from '../ports/clock.ts'
import type { OutboundStanding } from '../ports/outbound-requests.ts'
import { type Failure, type ForeignToken, parseGrant, parseGranted, readAnswer } from './answers.ts'
import { recentlyUsed } from './recently-used.ts'
import type { SignedRequests } from './signed-requests.ts'

/** A token that is held. */
export interface HeldToken extends ForeignToken {
  /** When it was asked for: it lasts no longer than its seconds from there. */
  readonly askedAt: number
}

/** A token, or why there is none. `isNew`: it was not held before this call. */
export type TokenResult = { readonly ok: true; readonly token: HeldToken; readonly isNew: boolean } | Failure

/** The access tokens by which this server reads incoming payments elsewhere. */
export interface AccessTokens {
  /**
   * A token of `authServer` for the payments of one collection, and for nothing else. That one is known if a token of it
   * was good there before. `refused` is one that was refused there: it is never given again.
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
  readonly requests: SignedRequests
  /** A wallet address by which this server is known if its key alone is not enough. */
  readonly clientWalletAddress?: string
}

/** How many tokens are held, and of how many servers it is remembered how they know this one. */
const HELD = 1000

/** How many of them a host keeps if there is no room for more. */
const SHARE_OF_HOST = 100

/**
 * Holds a token per collection and authorization server: one server's word never gets it a token that was given for
 * another's. A token that has expired is rotated, and one that cannot be is asked for anew; concurrent calls for one
 * token share what is asked.
 */
export function accessTokens({ clock, requests, clientWalletAddress }: AccessTokensOptions): AccessTokens {
  const held = recentlyUsed<HeldToken>(HELD, SHARE_OF_HOST)
  const running = new Map<string, Promise<TokenResult>>()
  const takenByAddress = recentlyUsed<true>(HELD, SHARE_OF_HOST)

  const isExpired = ({ askedAt, expiresIn }: HeldToken): boolean =>
    expiresIn !== undefined && clock.now() >= askedAt + expiresIn * 1000

  /** Asks as a client that is known by its key, and if that is refused by its wallet address; first as it worked before. */
  async function requestGrant(authServer: string, standing: OutboundStanding): Promise<TokenResult> {
    const { jwk } = await requests.key()
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
    const answer = await requests.send(
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

  /** Only where the token comes from: its value is told to nobody else. */
  async function rotate(
    { value, manage }: HeldToken,
    authServer: string,
    standing: OutboundStanding,
  ): Promise<HeldToken | undefined> {
    if (new URL(manage).origin !== new URL(authServer).origin) return undefined
    const askedAt = clock.now()
    const sending = { standing: standing === 'ordered' ? standing : 'known' } as const
    const answer = await requests.send({ method: 'POST', url: manage, token: value }, sending)
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
    // A renewal of another standing may have brought one meanwhile.
    else if (held.get(name) === before) held.delete(name)
    return result
  }

  return {
    async tokenFor(collection, authServer, standing, refused) {
      const name = `${collection} ${authServer}`
      const found = held.get(name)
      const usable = found === refused ? undefined : found
      if (usable !== undefined && !isExpired(usable)) return { ok: true, token: usable, isNew: false }
      // Apart, so that what one of them may not ask for is refused to no other.
      const run = `${name} ${standing}`
      const renewal = running.get(run) ?? renew(name, authServer, standing, usable).finally(() => running.delete(run))
      running.set(run, renewal)
      return renewal
    },
  }
}
