import { AsyncLocalStorage } from 'node:async_hooks'
import type { Express, Request } from 'express'
import type { OpenPayments } from 'open-payments-server'
import { type AuthenticatedUser, consentPage } from 'open-payments-server/consent'
import { openPaymentsMiddleware } from 'open-payments-server/express'

const person = new AsyncLocalStorage<AuthenticatedUser | undefined>()

export const consent = consentPage({
  walletName: 'My Wallet',
  authenticate: async ({ target }) => person.getStore() ?? { redirect: `/login?next=${encodeURIComponent(target)}` },
})

/** Behind the sessions and the login of the application, before its body parsers. */
export function mountOpenPayments(
  app: Express,
  openPayments: OpenPayments,
  personOf: (request: Request) => AuthenticatedUser | undefined,
): void {
  app.use((request, _response, next) => person.run(personOf(request), next))
  app.use(openPaymentsMiddleware(openPayments))
}
