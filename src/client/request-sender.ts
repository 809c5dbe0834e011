import { signRequest } from '../http-signatures/sign-request.ts'
import type { Clock } from '../ports/clock.ts'
import type { Cryptography } from '../ports/cryptography.ts'
import type { OutboundAnswer, OutboundOptions, SendOutbound } from '../ports/outbound-requests.ts'
import type { Secrets } from '../ports/secrets.ts'
import type { ServerKeys } from '../ports/server-keys.ts'
import { toUtf8 } from '../protocol/bytes.ts'

/** What it takes to send requests that this server signs. */
export interface RequestSenderOptions {
  readonly clock: Clock
  readonly cryptography: Cryptography
  readonly secrets: Secrets
  readonly serverKeys: ServerKeys
  /** How requests leave this server: guarded, since strangers choose the URLs. */
  readonly send: SendOutbound
}

/** A request to sign and send. */
export interface RequestToSend {
  readonly method: 'GET' | 'POST'
  readonly url: string
  /** Becomes `Authorization: GNAP <token>`. */
  readonly token?: string
  /** The body, as JSON. */
  readonly json?: unknown
}

/** Sends a request that this server signs as a client of others. */
export type SendSigned = (request: RequestToSend, options: OutboundOptions) => Promise<OutboundAnswer>

/** Signs with the key of the current secret. */
export function requestSender({ clock, cryptography, secrets, serverKeys, send }: RequestSenderOptions): SendSigned {
  return async ({ method, url, token, json }, options) => {
    // Sign the URL as it will be requested: a base URL without a path gets the path `/`.
    const { href } = new URL(url)
    const body = json === undefined ? undefined : toUtf8(JSON.stringify(json))
    const authorization = token === undefined ? {} : { authorization: `GNAP ${token}` }
    const headers = await signRequest(
      { method, url: href, headers: { accept: 'application/json', ...authorization }, ...(body && { body }) },
      await serverKeys.current(),
      // The nonce makes two equal requests in one second differ, for servers that accept no signature twice.
      { cryptography, created: Math.floor(clock.now() / 1000), nonce: secrets.randomId() },
    )
    return send({ method, url: href, headers, ...(body && { body }) }, options)
  }
}
