import { createOpenPayments, type HttpRequest } from 'open-payments-server'
import { memoryLedger } from 'open-payments-server/ledger/memory'
import { memoryStorage } from 'open-payments-server/storage/memory'
import {
  alterRequest,
  createSigningKey,
  type InMemoryRequest,
  type SignedRequestOptions,
  type SigningKey,
  signedRequest,
} from 'open-payments-server/testing'
import { ACCOUNTS, walletAt } from '../wallet/accounts.ts'
import { heldPorts } from '../wallet/held-ports.ts'
import { HELD_ORIGIN, type Mount, urlsAt } from '../wallet/mounting.ts'
import type { Script, ScriptedAnswer, ScriptedExchange, ScriptedRequest } from './script.ts'

/** What is changed of a request once it is signed. */
export type Alteration = Parameters<typeof alterRequest>[1]

/** How a request of the script is made. */
export interface Sending extends Partial<Omit<SignedRequestOptions, 'method' | 'url' | 'cryptography' | 'created'>> {
  /** Seconds from now at which it claims to be signed. */
  readonly signedAfter?: number
  readonly alter?: Alteration | ((request: InMemoryRequest) => Alteration)
  readonly isChunked?: boolean
  /** `false`: it is not signed at all. */
  readonly isSigned?: boolean
}

/** An answer, read: its JSON as the script needs it to go on. */
export interface ReadAnswer extends ScriptedAnswer {
  readonly text: string
  readonly json: AnswerJson
}

/** The members that the script reads of answers. */
export interface AnswerJson {
  readonly id: string
  readonly access_token: { readonly value: string; readonly manage: string }
  readonly continue: { readonly uri: string; readonly access_token: { readonly value: string } }
  readonly interact: { readonly redirect: string }
  readonly pagination: { readonly startCursor: string; readonly endCursor: string }
}

/** Keys that are the same in every run. */
export interface ScriptKeys {
  /** The client with a wallet address on the server. */
  readonly shop: SigningKey
  /** Clients that are known by their keys alone. */
  readonly stranger: SigningKey
  readonly directed: SigningKey
}

/** Writes a script by playing it against a server in this process. */
export interface Recorder {
  readonly authServer: string
  readonly resourceServer: string
  readonly keys: ScriptKeys
  readonly script: Script
  /** Signs as the shop unless told otherwise, and sends. */
  send(title: string, method: string, url: string, sending?: Sending): Promise<ReadAnswer>
  /** Begins a part of the script: at an hour of its own, with chance of its own, so that no other part depends on it. */
  begin(): void
  /** Moves the time on. */
  wait(seconds: number): void
  /** A moment in so many seconds, as JSON writes it. */
  momentIn(seconds: number): string
}

const START = Date.parse('2026-03-01T12:00:00.123Z')
const HOUR_MILLISECONDS = 3_600_000

/** The keys of the script. */
export async function scriptKeys(): Promise<ScriptKeys> {
  const held = heldPorts()
  const keyOf = (seed: number, keyId: string): Promise<SigningKey> => {
    held.set(0, seed)
    return createSigningKey(held.cryptography, keyId)
  }
  return {
    shop: await keyOf(1, 'shop-key'),
    stranger: await keyOf(2, 'stranger-key'),
    directed: await keyOf(3, 'directed-key'),
  }
}

/** The reference that every runtime and host is compared with. */
export async function createRecorder(mount: Mount): Promise<Recorder> {
  const keys = await scriptKeys()
  const { set, ...ports } = heldPorts()
  const openPayments = createOpenPayments({
    ...walletAt(HELD_ORIGIN, mount, [keys.shop.jwk]),
    ...ports,
    storage: memoryStorage(),
    ledger: memoryLedger({ accounts: ACCOUNTS }),
  })
  const script: ScriptedExchange[] = []
  let part = 0
  let number = 0
  let now = START

  const exchange = async (sent: Omit<ScriptedRequest, 'isOwned'>): Promise<ScriptedExchange> => {
    await openPayments.drain()
    set(sent.now, sent.number)
    const request = { ...sent, isOwned: await openPayments.owns(sent.method, sent.target) }
    const { status, headers, body = '' } = await openPayments.handle(toHttpRequest(request))
    const bytes = body instanceof Uint8Array ? body : new TextEncoder().encode(body)
    const answer = { status, headers, body: bytes }
    const { pathname, search } = new URL(HELD_ORIGIN + sent.target)
    if (pathname + search === sent.target) return { request, answer }
    return { request, answer, rewritten: await exchange({ ...sent, target: pathname + search }) }
  }

  return {
    ...urlsAt(HELD_ORIGIN, mount),
    keys,
    script,
    begin() {
      part += 1
      number = part * 1000
      now = START + part * HOUR_MILLISECONDS
    },
    wait(seconds) {
      now += seconds * 1000
    },
    momentIn: (seconds) => new Date(now + seconds * 1000).toISOString(),
    async send(title, method, url, sending = {}) {
      const { signedAfter = 0, alter = {}, isChunked = false, isSigned = true, ...more } = sending
      const created = Math.floor(now / 1000) + signedAfter
      const signed = await signedRequest({
        method,
        url,
        key: keys.shop,
        cryptography: ports.cryptography,
        created,
        ...more,
      })
      const bare = isSigned ? signed : alterRequest(signed, { headers: { signature: [], 'signature-input': [] } })
      const sent = alterRequest(bare, typeof alter === 'function' ? alter(bare) : alter)
      const exchanged = await exchange({
        number: ++number,
        title,
        now,
        method: sent.method,
        target: sent.target,
        headers: headerLines(sent, isChunked),
        body: sent.body,
        isChunked,
      })
      script.push(exchanged)
      const { answer } = exchanged
      const text = new TextDecoder().decode(answer.body)
      const isJson = answer.headers['content-type'] === 'application/json'
      return { ...answer, text, json: isJson ? JSON.parse(text) : {} }
    },
  }
}

/** The lines of a request as they go over the wire: one of the two that say where a body ends is among them. */
function headerLines({ headers, body }: InMemoryRequest, isChunked: boolean): ScriptedRequest['headers'] {
  const lines = Object.entries(headers).flatMap(([name, values]) => values.map((value) => [name, value] as const))
  const others = lines.filter(([name]) => name !== 'content-length')
  if (isChunked) return [...others, ['transfer-encoding', 'chunked']]
  return body.length > 0 || others.length < lines.length ? [...others, ['content-length', String(body.length)]] : others
}

function toHttpRequest({ method, target, headers, body }: ScriptedRequest): HttpRequest {
  return {
    method,
    target,
    headerLines: (name) => headers.flatMap(([field, value]) => (field === name ? [value] : [])),
    bytes: async (limit) => (body.length > limit ? undefined : body),
  }
}
