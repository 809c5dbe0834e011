/** A reason as it is stored and told to the operator: short, and one line of text, whoever worded it. */
export function reasonText(reason: string): string {
  return reason.slice(0, 256).replaceAll(/[\p{Cc}\p{Cf}\p{Zl}\p{Zp}\p{Surrogate}]/gu, ' ')
}
