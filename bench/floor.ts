import { createHash, createPublicKey, type KeyObject, randomBytes, verify } from 'node:crypto'
import type { IncomingMessage, ServerResponse } from 'node:http'
import process from 'node:process'
import { inOrderOfTime } from '../src/protocol/identifiers.ts'
import { answerLines } from './answer-lines.ts'
import { storeRows } from './floor-rows.ts'
import type { HostName, StorageName } from './host-names.ts'
import { listenOnFetch, listenOnNode } from './listen.ts'
import { BASE, type ClientKey } from './wallet.ts'

/** What the bare server is told at its start. */
export interface FloorOptions {
  readonly host: HostName
  readonly storage: StorageName
  readonly place: string
  readonly key: ClientKey
}

/** What it answers from now on, and whether it stores a row first. */
export interface FloorTask {
  readonly status: number
  readonly body: string
  readonly stores: boolean
}

// What a signed request costs whoever answers it: a bare server reads it, digests its body, verifies its signature and
// stores one row as durably as the library, and answers as many bytes.
const { host, storage, place, key }: FloorOptions = JSON.parse(process.argv[2] ?? '{}')
const publicKey: KeyObject = createPublicKey({ key: { ...key.jwk }, format: 'jwk' })
const store = await storeRows(storage, place)
let task: FloorTask = { status: 200, body: '{}', stores: false }

/** The fields of a request, by name in lower case. */
type Field = (name: string) => string | undefined

function isSigned(method: string, target: string, field: Field, body: Uint8Array): boolean {
  const input = (field('signature-input') ?? '').slice('sig1='.length)
  const names = input.slice(1, input.indexOf(')')).split(' ')
  const lines = names.map((quoted) => {
    if (quoted === '"@method"') return `"@method": ${method}`
    if (quoted === '"@target-uri"') return `"@target-uri": ${BASE}${target}`
    return `${quoted}: ${field(quoted.slice(1, -1))}`
  })
  const base = `${lines.join('\n')}\n"@signature-params": ${input}`
  if (body.length > 0) {
    const digest = `sha-512=:${createHash('sha512').update(body).digest('base64')}:`
    if (field('content-digest') !== digest) return false
  }
  const signature = (field('signature') ?? '').slice('sig1=:'.length, -1)
  return verify(null, Buffer.from(base), publicKey, Buffer.from(signature, 'base64'))
}

async function answer(method: string, target: string, field: Field, body: Uint8Array): Promise<FloorTask> {
  if (field('signature') !== undefined && !isSigned(method, target, field, body)) {
    return { status: 401, body: '', stores: false }
  }
  if (task.stores)
    await store(inOrderOfTime(Date.now()) + randomBytes(16).toString('hex'), Buffer.from(body).toString())
  return task
}

async function answerOnNode(request: IncomingMessage, response: ServerResponse): Promise<void> {
  const chunks: Buffer[] = []
  request.on('data', (chunk: Buffer) => chunks.push(chunk))
  await new Promise((resolve) => request.on('end', resolve))
  const { method = '', url = '', headers } = request
  const { status, body } = await answer(method, url, (name) => headers[name]?.toString(), Buffer.concat(chunks))
  if (status === 204) {
    response.writeHead(status).end()
    return
  }
  response.writeHead(status, { 'content-type': 'application/json', 'content-length': Buffer.byteLength(body) })
  response.end(body)
}

async function answerOnFetch(request: Request): Promise<Response> {
  const bytes = request.method === 'GET' ? new Uint8Array() : new Uint8Array(await request.arrayBuffer())
  const target = request.url.slice(request.url.indexOf('/', 'https://'.length))
  const { status, body } = await answer(request.method, target, (name) => request.headers.get(name) ?? undefined, bytes)
  return new Response(status === 204 ? null : body, { status, headers: { 'content-type': 'application/json' } })
}

async function listen(at: HostName): Promise<number> {
  if (at === 'fetch') return listenOnFetch(answerOnFetch)
  if (at === 'node') return listenOnNode(answerOnNode)
  const { default: express } = await import('express')
  return listenOnNode(express().use(answerOnNode))
}

await answerLines({ port: await listen(host) }, async (question: Partial<FloorTask>) => {
  task = { ...task, ...question }
})
