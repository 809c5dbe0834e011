import { requireFunction, requireOptionsOf } from '../src/errors/check-option.ts'
import { ConfigurationError } from '../src/index.ts'

/**
 * Reports to plain JavaScript at mounting, not at the first request, that a server is missing or its promise was not
 * awaited, or that an option is unknown or no function.
 */
export function requireOpenPayments(
  given: { readonly owns: unknown } | undefined,
  name: string,
  options: object,
  known: readonly string[],
): void {
  if (!given?.owns)
    throw new ConfigurationError('openPayments must be what createOpenPayments returns; a promise must be awaited')
  requireOptionsOf(name, options, known)
  for (const [member, option] of Object.entries(options)) {
    if (option !== undefined) requireFunction(`${name}.${member}`, option)
  }
}
