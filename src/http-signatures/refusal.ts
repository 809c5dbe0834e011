/** Why a message is not accepted: a short text for the client. */
export interface Refusal {
  readonly ok: false
  readonly reason: string
}

/** A refusal with its reason. */
export function refuse(reason: string): Refusal {
  return { ok: false, reason }
}
