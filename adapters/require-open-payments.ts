import { ConfigurationError } from '../src/index.ts'

/**
 * Reports to plain JavaScript at mounting, not at the first request, that a server is missing or its promise was not
 * awaited.
 */
export function requireOpenPayments(given: { readonly owns: unknown } | undefined): void {
  if (!given?.owns) throw new ConfigurationError('openPayments is missing, or a promise: await it')
}
