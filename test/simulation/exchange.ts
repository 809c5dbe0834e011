import type { HttpRequest } from 'open-payments-server'
import { signedRequest } from 'open-payments-server/testing'
import type { AnswerBody } from '../support/answer-body.ts'
import { bodyText } from '../support/body-text.ts'
import { keyed } from '../support/keyed.ts'
import type { SimulatedClient, SimulatedProcess, World } from './world.ts'

/** An answer as a client reads it. */
export interface Answer {
  readonly status: number
  readonly text: string | undefined
  readonly body: AnswerBody
}

/** What one request wants, however often it is sent. */
export interface Asked {
  readonly client: SimulatedClient
  readonly method: 'GET' | 'POST' | 'DELETE'
  readonly url: string
  readonly token?: string
  readonly json?: unknown
  readonly key?: string
  /** The process that is asked; by default any that runs. */
  readonly via?: SimulatedProcess
  /** For requests that must differ from each other even within one second. */
  readonly isUnique?: boolean
}

/** A request that was sent once, to one process. */
export interface Exchange {
  readonly asked: Asked
  readonly request: HttpRequest
  /** What the process answered, whether or not its client heard it. */
  answer: Answer | undefined
}

/** Some process that runs; none where all have crashed. */
export function someProcess({ processes, random }: World): SimulatedProcess | undefined {
  const alive = processes.filter(({ isAlive }) => isAlive)
  return alive.length === 0 ? undefined : random.pick(alive)
}

/** Signs a request as its client does. */
export async function sign(
  world: World,
  { client, method, url, token, json, key, isUnique }: Asked,
): Promise<HttpRequest> {
  const nonce = isUnique === true ? { nonce: String(world.random.next()) } : {}
  return signedRequest({
    method,
    url,
    key: client.key,
    cryptography: world.cryptography,
    created: Math.floor(world.now() / 1000),
    ...nonce,
    ...(token !== undefined && { token }),
    ...(json !== undefined && { json }),
    ...(key !== undefined && keyed(key)),
  })
}

/**
 * Signs a request, hands it to a process and answers what its client hears: nothing where the process crashes or the
 * client gives up. `judge` is shown what the process says as soon as it says it.
 */
export async function send(
  world: World,
  asked: Asked,
  judge: (answer: Answer) => void = () => undefined,
): Promise<Answer | undefined> {
  return deliver(world, { asked, request: await sign(world, asked), answer: undefined }, judge)
}

/** The same for a request that is signed. */
export async function deliver(
  world: World,
  exchange: Exchange,
  judge: (answer: Answer) => void,
): Promise<Answer | undefined> {
  const { asked, request } = exchange
  const process = asked.via ?? someProcess(world)
  if (process === undefined) return undefined
  const name = `${asked.method} ${asked.url}${asked.key === undefined ? '' : ` key ${asked.key}`}`
  world.trace.add(
    () => `  p${process.id} is asked ${name} ${asked.json === undefined ? '' : JSON.stringify(asked.json)}`,
  )
  const answered = process.openPayments.handle(request).then((response) => {
    const { status } = response
    const text = bodyText(response)
    const answer: Answer = { status, text, body: text === undefined ? undefined : JSON.parse(text) }
    world.trace.add(() => `  p${process.id} answers ${status} to ${name}: ${text ?? ''}`)
    exchange.answer = answer
    judge(answer)
    return answer
  })
  return untilHeard(world, process, answered)
}

/** The result of a call of a process; `undefined` where the process crashes before, or nobody waits for it any more. */
export function untilHeard<T>(world: World, process: SimulatedProcess, result: Promise<T>): Promise<T | undefined> {
  return new Promise((resolve) => {
    const lose = (): void => {
      world.met('somebody hears no answer')
      resolve(undefined)
    }
    process.bereaved.add(lose)
    const hear = (value: T | undefined): void => {
      process.bereaved.delete(lose)
      resolve(value)
    }
    const giveUp = world.isFaulty && world.random.chance(0.03)
    if (giveUp) pause(world, world.random.between(0, 5_000)).then(lose)
    result.then(hear, () => hear(undefined))
  })
}

/** Lets some time pass for whoever waits. */
export function pause({ scheduler }: World, milliseconds: number): Promise<void> {
  return new Promise((resolve) => {
    const readyAt = scheduler.elapsed() + milliseconds
    scheduler.add({ what: 'step', title: () => 'somebody goes on', readyAt, run: resolve })
  })
}
