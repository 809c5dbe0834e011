import type {
  ConsentData,
  DecidedInteraction,
  InteractionRefusal,
  Interactions,
  ResourceOwner,
} from '../../src/ports/consent.ts'
import type { HttpRequest } from '../../src/ports/http-exchange.ts'

export const ALICE = 'https://wallet.example/alice'

export const CONSENT: ConsentData = {
  client: { id: 'https://shop.example/pay', name: 'Mia’s Bicycles', origin: 'https://shop.example', isLocal: false },
  walletAddress: ALICE,
  access: [
    {
      access: { type: 'outgoing-payment', actions: ['create', 'read'], identifier: ALICE },
      debitAmount: '120.00 USD',
      receiver: 'https://shop.example/incoming-payments/1',
      interval: {
        interval: 'R11/2026-03-01T00:00:00Z/P1M',
        windows: 12,
        phase: 'ahead',
        startsAt: Date.UTC(2026, 2, 1),
        endsAt: Date.UTC(2027, 2, 1),
      },
    },
  ],
  subject: false,
  finishHost: 'finish.example',
  expiresAt: Date.UTC(2026, 1, 27, 12, 34),
}

/** One interaction, `reference`, with the rules of the port: one session, one anti-CSRF value, one decision. */
export function fakeInteractions(consent: ConsentData = CONSENT, { isPolled = false } = {}) {
  const state: { session?: string; decision?: string; isExpired: boolean } = { isExpired: false }
  const refusalFor = (
    reference: string,
    { session, walletAddresses }: ResourceOwner,
  ): InteractionRefusal | undefined => {
    if (reference !== 'reference') return 'unknown'
    if (state.isExpired) return 'expired'
    if (state.decision !== undefined) return 'used'
    if (!walletAddresses.includes(consent.walletAddress)) return 'not_owner'
    return (state.session ?? session) === session ? undefined : 'other_session'
  }
  const decide =
    (decision: string): Interactions['approve'] =>
    async (reference, decider): Promise<DecidedInteraction> => {
      const reason = refusalFor(reference, decider)
      if (reason !== undefined) return { ok: false, reason }
      if (decider.csrf !== 'csrf-value') return { ok: false, reason: 'bad_csrf' }
      state.decision = decision
      return isPolled ? { ok: true } : { ok: true, redirect: 'https://finish.example/?hash=h' }
    }
  const interactions: Interactions = {
    async find(reference, owner) {
      const reason = refusalFor(reference, owner)
      if (reason !== undefined) return { ok: false, reason }
      state.session = owner.session
      return { ok: true, consent, csrf: 'csrf-value' }
    },
    approve: decide('approved'),
    deny: decide('denied'),
  }
  return { interactions, state }
}

/** A request as a browser makes it. */
export function browserRequest(
  method: 'GET' | 'POST',
  headers: Readonly<Record<string, string>>,
  body = '',
): HttpRequest {
  const bytes = new TextEncoder().encode(body)
  return {
    method,
    target: '/auth/interact/reference',
    headerLines: (name) => (headers[name] === undefined ? [] : [headers[name]]),
    bytes: async (limit) => (bytes.length > limit ? undefined : bytes),
  }
}
