import type { Context } from '../ports/context.ts'

/** The URL of an incoming payment on this server. */
export function incomingPaymentUrl(context: Context, id: string): string {
  return `${context.resourceServer}/incoming-payments/${id}`
}

/** The URL of a quote on this server. */
export function quoteUrl(context: Context, id: string): string {
  return `${context.resourceServer}/quotes/${id}`
}

/** The URL of an outgoing payment on this server. */
export function outgoingPaymentUrl(context: Context, id: string): string {
  return `${context.resourceServer}/outgoing-payments/${id}`
}
