import { createHash } from 'node:crypto'
import type { DecidedInteraction } from 'open-payments-server'
import { expect } from 'vitest'
import { AUTH, FINISH } from '../../support/test-wallet.ts'
import { endGrant } from './grants.ts'
import type { GrantModel } from './state.ts'

export interface Browser {
  readonly session: string
  readonly walletAddresses: readonly string[]
}

/** Why an interaction cannot be opened or decided; `undefined` where it can. */
export function refuseBrowser(grant: GrantModel, now: number, browser: Browser): string | undefined {
  if (grant.interaction === undefined) return 'unknown'
  if (grant.interaction === 'approved' || grant.interaction === 'denied') return 'used'
  if (now >= grant.expiresAt) return 'expired'
  if (grant.state !== 'pending') return 'unknown'
  if (!browser.walletAddresses.includes(grant.owner ?? '')) return 'not_owner'
  return grant.session === undefined || grant.session === browser.session ? undefined : 'other_session'
}

export interface Verdict extends Browser {
  readonly csrf: string
  readonly isApproved: boolean
}

/** What a decision comes to, and what it makes of the grant. */
export function decideGrant(grant: GrantModel, now: number, verdict: Verdict): string | undefined {
  const refusal = refuseBrowser(grant, now, verdict)
  if (refusal !== undefined) return refusal
  if (grant.interaction !== 'opened' || verdict.csrf !== grant.csrf) return 'bad_csrf'
  grant.interaction = verdict.isApproved ? 'approved' : 'denied'
  if (verdict.isApproved) grant.state = 'approved'
  else endGrant(grant, now, 'rejected')
  return undefined
}

/** Where the browser must be sent, and the reference that the client finds there. */
export function learnRedirect(grant: GrantModel, decided: DecidedInteraction, isApproved: boolean): void {
  const redirect = decided.ok ? decided.redirect : undefined
  if (!grant.hasFinish) {
    expect(redirect).toBe(undefined)
    return
  }
  const url = new URL(redirect ?? '')
  const { hash, interact_ref: reference, ...rest } = Object.fromEntries(url.searchParams)
  expect(`${url.origin}${url.pathname}`).toBe('https://shop.example/done')
  if (isApproved) {
    const hashed = [FINISH.nonce, grant.nonce, reference, AUTH].join('\n')
    expect({ ...rest, hash }).toEqual({ order: '7', hash: createHash('sha256').update(hashed).digest('base64') })
    grant.interactRef = reference
  } else expect({ ...rest, hash, reference }).toEqual({ order: '7', result: 'grant_rejected' })
}
