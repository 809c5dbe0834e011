import { setTimeout as wait } from 'node:timers/promises'
import { fileURLToPath } from 'node:url'
import { webCryptography } from 'open-payments-server'
import { createSigningKey } from 'open-payments-server/testing'
import type { Runtime } from '../test/runtimes/runtimes.ts'
import { type Child, startChild } from './child.ts'
import type { FloorOptions } from './floor.ts'
import type { HostName, StorageName, VerifierName } from './host-names.ts'
import { type RawAnswer, runLoad } from './load.ts'
import { type Operation, operationOf } from './operations.ts'
import type { Target } from './requests.ts'
import type { ServerOptions } from './server.ts'
import { type ClientKey, type Listening, type ServerHello, signingKeyOf } from './wallet.ts'

/** Where something is measured. */
export interface Place {
  readonly runtime: Runtime
  readonly storage: StorageName
  /** Default: the runtime's own. */
  readonly verifier?: VerifierName
  readonly host: HostName
}

/** A server of the library, and what requests to it are told. */
export interface Served {
  readonly ours: Child<ServerHello>
  readonly target: Target
}

/** A server of the library, and a bare one on the same runtime, storage and host. */
export interface Subject extends Served {
  readonly host: HostName
  readonly floor: Child<Listening>
  end(): Promise<void>
}

/** How many incoming payments are there to be read and paid. */
const INCOMING = 1000

const program = (name: string): string => fileURLToPath(new URL(`${name}.js`, import.meta.url))

/** Draws the key of the client. */
export async function drawKey(): Promise<ClientKey> {
  const { jwk, privateKeySeed } = await createSigningKey(webCryptography(), 'bench')
  return { jwk, seed: Buffer.from(privateKeySeed).toString('base64') }
}

/** Starts a server of the library: of this version, or by another version's program. */
export async function startServer(
  runtime: Runtime,
  options: ServerOptions,
  server = program('server'),
): Promise<Child<ServerHello>> {
  return startChild<ServerHello>([...(await runtime.command()), server], options)
}

/** Starts a server whose client has its grants, and creates the incoming payments. */
export async function startServed(
  runtime: Runtime,
  options: Omit<ServerOptions, 'hasGrants'>,
  server?: string,
): Promise<Served> {
  const ours = await startServer(runtime, { ...options, hasGrants: true }, server)
  const created = targetOf(ours, options.key)
  const answers = await askAll({ ours, target: created }, operationOf('create-incoming-payment'), INCOMING)
  return { ours, target: { ...created, incoming: answers.map(([body = '']) => JSON.parse(body).id) } }
}

/** Starts both, and creates the incoming payments. The ledger is in memory, or else in a SQLite file. */
export async function startSubject(
  { runtime, storage, verifier = 'host', host }: Place,
  key: ClientKey,
  newPlace: (of: string) => Promise<string>,
  ledgerPlace?: string,
): Promise<Subject> {
  const options: FloorOptions = { host, storage, place: await newPlace('ours'), key }
  const served = await startServed(runtime, { ...options, verifier, ledgerPlace })
  const floorOptions: FloorOptions = { ...options, place: await newPlace('floor') }
  const floor = await startChild<Listening>([...(await runtime.command()), program('floor')], floorOptions)
  return {
    host,
    ...served,
    floor,
    async end() {
      await served.ours.end()
      await floor.end()
    },
  }
}

/** What requests to a server are told of it. */
function targetOf({ hello }: Child<ServerHello>, key: ClientKey): Target {
  const { tokens, ahead } = hello
  if (tokens === undefined) throw new Error('this server has no grants')
  let count = 0
  return { key: signingKeyOf(key), tokens, ahead, incoming: [], next: () => count++ }
}

/** Signs all requests of a pass. What they need first is asked now. */
export async function signAll(subject: Served, operation: Operation, count: number): Promise<readonly Buffer[]> {
  const { requests } = await prepareAll(subject, operation, count)
  return requests
}

/** So many requests, and for each of them the bodies of what was asked before it, the latest first. */
interface Prepared {
  readonly requests: readonly Buffer[]
  readonly earlier: readonly (readonly string[])[]
}

async function prepareAll(served: Served, operation: Operation, count: number): Promise<Prepared> {
  const { after, waitMilliseconds } = operation
  const earlier = after === undefined ? [] : await askAll(served, operationOf(after), count)
  if (waitMilliseconds !== undefined) await wait(waitMilliseconds)
  const indexes = Array.from({ length: count }, (_, index) => index)
  const requests = await Promise.all(indexes.map((at) => operation.request(served.target, at, earlier[at] ?? [])))
  return { requests, earlier }
}

/** The bodies of so many answers, in the order of their requests, each with those of what was asked before it. */
async function askAll(served: Served, operation: Operation, count: number): Promise<readonly (readonly string[])[]> {
  const { requests, earlier } = await prepareAll(served, operation, count)
  const answers: (readonly string[])[] = []
  const keep = ({ body }: RawAnswer, index: number): void => {
    answers[index] = [body.toString(), ...(earlier[index] ?? [])]
  }
  await runLoad(served.ours.hello.port, requests, 8, operation.status, keep)
  return answers
}

/** What the library answers to one request, so that the bare server answers as many bytes. */
export async function sampleAnswer(subject: Subject, operation: Operation): Promise<string> {
  const requests = await signAll(subject, operation, 1)
  let text = ''
  await runLoad(subject.ours.hello.port, requests, 1, operation.status, ({ body }) => {
    text = body.toString()
  })
  return text
}
