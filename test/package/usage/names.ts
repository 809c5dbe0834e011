import * as all from 'open-payments-server'

/** A type is no value, also where the library has a schema of that name inside. */
export function hasNoSchemas(): readonly unknown[] {
  return [
    // @ts-expect-error a type alone
    all.Access,
    // @ts-expect-error a type alone
    all.Amount,
    // @ts-expect-error a type alone
    all.Metadata,
  ]
}

/** An error of the package is known by its brand, also from another copy of the package. */
export function isBranded(error: unknown): string {
  return all.isConfigurationError(error) ? error.message : String(error)
}
