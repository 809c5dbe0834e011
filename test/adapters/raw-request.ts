import type { InMemoryRequest } from 'open-payments-server/testing'

/** The head of a signed request as it goes over a connection; `others` are lines that the signature does not know. */
export function headOf({ method, target, headers }: InMemoryRequest, others: readonly string[] = []): string {
  const lines = Object.entries(headers).flatMap(([name, values]) => values.map((value) => `${name}: ${value}`))
  return [`${method} ${target} HTTP/1.1`, ...lines, ...others, '', ''].join('\r\n')
}

/** All of a signed request, in latin1. */
export function textOf(request: InMemoryRequest, others?: readonly string[]): string {
  return headOf(request, others) + Buffer.from(request.body).toString('latin1')
}
