import type { Express, RequestHandler } from 'express'
import { openPaymentsMiddleware } from 'open-payments-server/express'
import { type Listen, PREFIX } from '../mounting.ts'
import { listenWith, sendOwn } from './node-http.ts'

/** What is used of Express, 4 and 5. */
interface ExpressModule {
  (): Express
  text(options: { readonly type: () => boolean }): RequestHandler
}

/** The middleware in the Express of the package `name`: for the whole application, or under a prefix before a body parser. */
export function express(name: 'express' | 'express4'): Listen {
  return async (mountingAt) => {
    const { default: create }: { readonly default: ExpressModule } = await import(name)
    return listenWith(({ openPayments, own }) => {
      const application = create()
      if (own === undefined) return application.use(openPaymentsMiddleware(openPayments))
      application.use(PREFIX, openPaymentsMiddleware(openPayments))
      application.use(create.text({ type: () => true }))
      return application.use((request, response) => {
        const { method, originalUrl: target, headers, body } = request
        const text = typeof body === 'string' ? body : ''
        sendOwn(response, own({ method, target, cookie: headers.cookie ?? '', body: text }))
      })
    }, mountingAt)
  }
}
