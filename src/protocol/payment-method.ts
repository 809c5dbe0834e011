/** How an incoming payment can be paid over Interledger. `sharedSecret` is a secret. */
export interface IlpPaymentMethod {
  readonly type: 'ilp'
  readonly ilpAddress: string
  readonly sharedSecret: string
}

const ILP_PREFIX = /^(?:g|private|example|peer|self|test[1-3]?|local)(?:\.[a-zA-Z0-9_~-]+)*$/

/** Whether a text can stand before the address of a payment: a dotted ILP address prefix of at most 960 characters. */
export function isIlpPrefix(text: string): boolean {
  return text.length <= 960 && ILP_PREFIX.test(text)
}

/** Whether a text is the ILP address of something that can be paid: a prefix and at least one segment, of at most 1023 characters. */
export function isIlpAddress(text: string): boolean {
  return text.length <= 1023 && text.includes('.') && ILP_PREFIX.test(text)
}
