import { request as httpRequest } from 'node:http'
import { webCryptography } from 'open-payments-server'
import { createSigningKey, type InMemoryRequest, type SigningKey, signedRequest } from 'open-payments-server/testing'
import { keyed } from '../support/keyed.ts'

const cryptography = webCryptography()

/** A request of a client before it is signed. */
export interface ClientRequest {
  readonly method: 'GET' | 'POST'
  readonly url: string
  readonly token?: string
  readonly json?: unknown
  /** Its `Idempotency-Key`. */
  readonly key?: string
}

/** What came back. */
export interface Answer {
  readonly status: number
  readonly body: AnswerBody
}

/** The members of the answers that the clients here read; which of them are there depends on the answer. */
export interface AnswerBody {
  readonly id?: string
  readonly failed?: boolean
  readonly sentAmount?: { readonly value: string }
  readonly debitAmount?: { readonly value: string }
  readonly spentDebitAmount?: { readonly value: string } | null
  readonly error?: { readonly code: string; readonly description: string; readonly details?: unknown }
  readonly [member: string]: unknown
}

/** Draws the key of a client. */
export function drawKey(name: string): Promise<SigningKey> {
  return createSigningKey(cryptography, name)
}

/** Signs a request, and its `Idempotency-Key` with it. */
export async function sign(
  key: SigningKey,
  { method, url, token, json, key: idempotencyKey }: ClientRequest,
  nowMilliseconds: number,
): Promise<InMemoryRequest> {
  return signedRequest({
    method,
    url,
    key,
    cryptography,
    created: Math.floor(nowMilliseconds / 1000),
    ...(token !== undefined && { token }),
    ...(json !== undefined && { json }),
    ...(idempotencyKey !== undefined && keyed(idempotencyKey)),
  })
}

/** What goes over the wire. */
export type WireRequest = Pick<InMemoryRequest, 'method' | 'target' | 'headers' | 'body'>

/** Sends bytes to a process; `undefined` where no whole answer came back. */
export function send(port: number, { method, target, headers, body }: WireRequest): Promise<Answer | undefined> {
  return new Promise((resolve) => {
    const sent = httpRequest({ host: '127.0.0.1', port, method, path: target, agent: false }, (response) => {
      let text = ''
      response.setEncoding('utf8')
      response.on('data', (part: string) => {
        text += part
      })
      response.on('end', () => resolve({ status: response.statusCode ?? 0, body: text === '' ? {} : JSON.parse(text) }))
      response.on('error', () => resolve(undefined))
    })
    sent.on('error', () => resolve(undefined))
    for (const [name, lines] of Object.entries(headers)) sent.setHeader(name, lines)
    sent.end(body)
  })
}
