const brand: unique symbol = Symbol.for('open-payments-server.OpenPaymentsError')

/** What a refusal says to the client and to the operator. */
export interface Condition {
  /** The name of the condition, for events. */
  readonly name: string
  readonly status: number
  /** The code in a resource server's body. */
  readonly code: string
  /** The code in an authorization server's body, if it differs. */
  readonly gnapCode?: string
  /** For the client. */
  readonly description: string
  /** For the client of a resource server. */
  readonly details?: Readonly<Record<string, unknown>>
  readonly headers?: Readonly<Record<string, string>>
  /** For the operator; leaves the process only in an event. */
  readonly message?: string
}

/** A refusal of a request. Made by the functions of `conditions.ts`, turned into a response by `render-error.ts` alone. */
export class OpenPaymentsError extends Error {
  override readonly name = 'OpenPaymentsError'
  readonly condition: Condition
  readonly [brand] = true

  constructor(condition: Condition) {
    super(condition.message ?? condition.description)
    this.condition = condition
  }
}

/** Whether a thrown value is a refusal of this library. */
export function isOpenPaymentsError(value: unknown): value is OpenPaymentsError {
  return value instanceof Error && brand in value
}
