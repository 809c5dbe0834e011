import { ConfigurationError } from '../src/index.ts'

/** Tells plain JavaScript at mounting, and not at the first request, that a server was forgotten, or its promise not awaited. */
export function requireOpenPayments(given: { readonly owns: unknown } | undefined): void {
  if (!given?.owns) throw new ConfigurationError('openPayments is missing, or a promise: await it')
}
