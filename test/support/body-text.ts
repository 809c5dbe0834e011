import type { HttpResponse } from 'open-payments-server'

/** The body of an answer that is text. */
export function bodyText({ body }: HttpResponse): string | undefined {
  return body instanceof Uint8Array ? new TextDecoder().decode(body) : body
}
