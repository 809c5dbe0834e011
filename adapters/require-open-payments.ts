import { ConfigurationError } from '../src/index.ts'

/** Tells plain JavaScript at mounting, and not at the first request, that a server was forgotten, or the promise of one is not awaited. */
export function requireOpenPayments(given: { readonly owns: unknown } | undefined): void {
  if (typeof given?.owns !== 'function')
    throw new ConfigurationError(
      'what is mounted must be what createOpenPayments returned; where a promise has it, await it',
    )
}
