const brand: unique symbol = Symbol.for('open-payments-server.ConfigurationError')

/** A mistake in how the library is configured or mounted. `message` names the option, or says how to fix it. */
export class ConfigurationError extends Error {
  override readonly name = 'ConfigurationError'
  readonly [brand] = true
}

/** Whether a value is a `ConfigurationError`, from this copy of the library or another. */
export function isConfigurationError(value: unknown): value is ConfigurationError {
  return value instanceof Error && brand in value
}
