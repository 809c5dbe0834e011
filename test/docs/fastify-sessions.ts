import { AsyncLocalStorage } from 'node:async_hooks'
import type { FastifyInstance, FastifyRequest } from 'fastify'
import type { OpenPayments } from 'open-payments-server'
import { type AuthenticatedUser, consentPage } from 'open-payments-server/consent'
import { toNodeListener } from 'open-payments-server/node'

const asked = new AsyncLocalStorage<{ person: AuthenticatedUser | undefined; goOn: () => void }>()

export const consent = consentPage({
  walletName: 'My Wallet',
  authenticate: async ({ target }) =>
    asked.getStore()?.person ?? { redirect: `/login?next=${encodeURIComponent(target)}` },
})

/**
 * On the root instance, not inside a plugin, whose hooks see only its own routes; and after the plugins of the session are
 * registered, which make `request.session`. A hook runs before bodies are read.
 */
export function mountOpenPayments(
  app: FastifyInstance,
  openPayments: OpenPayments,
  personOf: (request: FastifyRequest) => AuthenticatedUser | undefined,
): void {
  const listener = toNodeListener(openPayments, { next: () => asked.getStore()?.goOn() })
  app.addHook('onRequest', (request, { raw }, goOn) => {
    asked.run({ person: personOf(request), goOn }, () => listener(request.raw, raw))
  })
}
