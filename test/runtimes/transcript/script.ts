/** One request of the script: what is sent, and when by the clock of the server. */
export interface ScriptedRequest {
  /** Its place in the script, and what is random meanwhile. */
  readonly number: number
  readonly title: string
  readonly now: number
  readonly method: string
  readonly target: string
  /** Every line, in order. */
  readonly headers: readonly (readonly [name: string, value: string])[]
  readonly body: Uint8Array
  /** Whether the body is sent in chunks, without its length. */
  readonly isChunked: boolean
  /** Whether Open Payments answers it where the wallet has routes of its own. */
  readonly isOwned: boolean
}

/** An answer, its header names in lower case. */
export interface ScriptedAnswer {
  readonly status: number
  readonly headers: Readonly<Record<string, string>>
  readonly body: Uint8Array
}

/** A request with the answer of the reference. */
export interface ScriptedExchange {
  readonly request: ScriptedRequest
  readonly answer: ScriptedAnswer
  /** Where a URL parser writes the target in another way, as Fetch hosts do: the same for what it makes of it. */
  readonly rewritten?: ScriptedExchange
}

/** Exchanges in their order. */
export type Script = readonly ScriptedExchange[]
