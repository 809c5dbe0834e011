import { webCryptography } from 'open-payments-server'
import { type SigningKey, signedRequest } from 'open-payments-server/testing'
import type { Tokens } from './wallet.ts'

const cryptography = webCryptography()

/** What a request is told of the server that it goes to. */
export interface Target {
  readonly key: SigningKey
  readonly tokens: Tokens
  /** How far its clock is ahead, in milliseconds. */
  readonly ahead: number
  /** URLs of incoming payments that are there and take money. */
  readonly incoming: readonly string[]
  /** A number that no other request of the run has: no two payments are the same order. */
  next(): number
}

/** What is asked. */
export interface Asked {
  readonly method: string
  readonly url: string
  readonly token?: string
  readonly json?: unknown
}

/** The bytes of a signed request, as a client puts them on the wire. */
export async function signedBytes(target: Pick<Target, 'key' | 'ahead'>, asked: Asked): Promise<Buffer> {
  const created = Math.floor((Date.now() + target.ahead) / 1000)
  const request = await signedRequest({ ...asked, key: target.key, cryptography, created })
  const fields = Object.entries(request.headers).flatMap(([name, lines]) => lines.map((line) => `${name}: ${line}`))
  const head = `${request.method} ${request.target} HTTP/1.1\r\n${fields.join('\r\n')}\r\n\r\n`
  return Buffer.concat([Buffer.from(head), request.body])
}

/** The bytes of a request that nobody signs. */
export function plainBytes(url: string): Buffer {
  const { pathname, host } = new URL(url)
  return Buffer.from(`GET ${pathname} HTTP/1.1\r\nhost: ${host}\r\naccept: application/json\r\n\r\n`)
}

/** One of a list, in turn. */
export function pick<T>(list: readonly T[], index: number): T {
  const found = list[index % list.length]
  if (found === undefined) throw new Error('nothing to choose from')
  return found
}
