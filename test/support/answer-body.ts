import type { WireAmount } from 'open-payments-server'

/** The bodies of all answers in one: a test reads the members that it expects. */
export interface AnswerBody {
  readonly error: {
    readonly code: string
    readonly description: string
    readonly details?: Readonly<Record<string, unknown>>
  }
  readonly access_token: {
    readonly value: string
    readonly manage: string
    readonly expires_in: number
    readonly access: unknown[]
  }
  readonly continue: { readonly access_token: { readonly value: string }; readonly uri: string; readonly wait?: number }
  readonly interact: { readonly redirect: string; readonly finish: string }
  readonly subject: unknown
  readonly id: string
  readonly result: readonly AnswerBody[]
  readonly pagination: {
    readonly startCursor?: string
    readonly endCursor?: string
    readonly hasNextPage: boolean
    readonly hasPreviousPage: boolean
  }
  readonly keys: readonly unknown[]
  readonly completed: boolean
  readonly expiresAt: string
  readonly methods: readonly { readonly ilpAddress: string; readonly sharedSecret: string }[]
  readonly debitAmount: WireAmount
  readonly receiveAmount: WireAmount
  readonly sentAmount: WireAmount
  readonly receivedAmount: WireAmount
}
