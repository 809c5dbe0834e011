import type { SigningKey } from 'open-payments-server/testing'
import type { Random } from '../fuzz/random.ts'
import { type Answer, type ClientRequest, sign, type WireRequest } from './client.ts'
import type { GrantedClient } from './grants.ts'
import type { PaymentOrder } from './notebook.ts'
import { BASE } from './wallet-process/accounts.ts'
import type { World } from './world.ts'

/** One thing after the other that a client does; a client has several lanes at once. */
export interface Lane {
  readonly world: World
  readonly client: GrantedClient
  readonly random: Random
  /** A name that no other order or key has. */
  freshName(): string
}

/** How often a client asks before it gives up, which none ever has to. */
const MOST_TRIES = 500

/** Whether a client knows the outcome now; else it asks again. */
function isOutcome(answer: Answer | undefined): answer is Answer {
  return answer !== undefined && answer.status < 500
}

/** Sends until there is an outcome; `make` is called for each try. */
async function askUntilAnswered(
  lane: Lane,
  make: (tries: number) => Promise<WireRequest>,
): Promise<{ readonly answer: Answer; readonly tries: number }> {
  for (let tries = 1; tries <= MOST_TRIES; tries++) {
    const answer = await lane.world.send(await make(tries), lane.random)
    if (isOutcome(answer)) return { answer, tries }
    // A process that answers "unavailable" is not asked again at once.
    if (answer !== undefined) await new Promise((resolve) => setTimeout(resolve, 20))
  }
  throw new Error('a request was never answered')
}

/** Signs each try anew: for what may be done twice. */
export async function askAnew(lane: Lane, request: ClientRequest, signer = lane.client.signer): Promise<Answer> {
  const { world } = lane
  return (await askUntilAnswered(lane, () => sign(signer, request, world.now()))).answer
}

/**
 * Asks under a key, the same bytes again or signed anew, until there is an answer, and keeps the answer. Where the
 * wallet may refuse, bytes that were used up by a refusal need a new signature.
 */
export async function askUnderKey(
  lane: Lane,
  unkeyed: ClientRequest,
  { mayBeRefused = false }: { readonly mayBeRefused?: boolean } = {},
): Promise<Answer> {
  const { world, random, client } = lane
  const request = { ...unkeyed, key: lane.freshName() }
  let bytes: WireRequest | undefined
  const { answer } = await askUntilAnswered(lane, async () => {
    if (bytes === undefined || mayBeRefused || random.oneIn(2)) bytes = await sign(client.signer, request, world.now())
    return bytes
  })
  if (answer.status === 201) {
    world.notebook.keyed.push({ request, signer: client.signer, answer })
    if (random.oneIn(4)) await repeatKeyed(lane, { request, signer: client.signer, answer })
  } else if (!mayBeRefused) {
    noteRefusal(lane, request, answer)
  }
  return answer
}

/** Repeats an answered request under its key: the answer is the same. */
export async function repeatKeyed(
  lane: Lane,
  {
    request,
    signer,
    answer,
  }: { readonly request: ClientRequest; readonly signer: SigningKey; readonly answer: Answer },
): Promise<void> {
  const again = await askAnew(lane, request, signer)
  if (JSON.stringify(again) === JSON.stringify(answer)) return
  lane.world.notebook.violations.push(
    `a repeat of ${request.url} under ${request.key} was answered ${JSON.stringify(again)}, at first ${JSON.stringify(answer)}`,
  )
}

/** What a payment is ordered with. */
export interface OrderTerms extends Pick<PaymentOrder, 'fate' | 'rivals'> {
  readonly token: string
  readonly json: object
  readonly isKeyed: boolean
}

/** Orders a payment, insists until there is an outcome, and notes what must have become of it. */
export async function orderPayment(lane: Lane, { token, json, isKeyed, ...fate }: OrderTerms): Promise<Answer> {
  const { world, client } = lane
  const order: PaymentOrder = { name: lane.freshName(), token, signer: client.signer, ...fate }
  world.notebook.orders.push(order)
  const url = `${BASE}/outgoing-payments`
  const request = { method: 'POST', url, token, json: { ...json, metadata: { order: order.name } } } as const
  const mayBeRefused = fate.fate !== 'paid'
  const answer = isKeyed
    ? await askUnderKey(lane, request, { mayBeRefused })
    : await orderOnce(lane, request, fate.fate)
  if (answer.status === 201 && answer.body.id !== undefined) order.url = answer.body.id
  return answer
}

/**
 * Sends the very same bytes until there is an answer, and again at times: they pay once. Where an answer was missed a
 * refusal may mean that they have paid: what became of the order shows in the end.
 */
async function orderOnce(lane: Lane, request: ClientRequest, fate: PaymentOrder['fate']): Promise<Answer> {
  const { world, random, client } = lane
  const bytes = await sign(client.signer, request, world.now())
  const { answer, tries } = await askUntilAnswered(lane, async () => bytes)
  if (fate === 'paid' && answer.status !== 201 && tries === 1) noteRefusal(lane, request, answer)
  // What a budget or a receiver refuses today it may admit tomorrow.
  if (answer.status !== 201 && fate === 'open') return answer
  world.notebook.captured.push(bytes)
  if (random.oneIn(4)) await replayCaptured(lane, bytes)
  return answer
}

/** Notes a refusal that nothing justifies. */
function noteRefusal({ world }: Lane, { url, json }: ClientRequest, answer: Answer): void {
  world.notebook.violations.push(`${url} ${JSON.stringify(json)} was answered ${JSON.stringify(answer)}`)
}

/** Sends a payment again that has had its outcome: it is refused. */
export async function replayCaptured(lane: Lane, bytes: WireRequest): Promise<void> {
  const { answer } = await askUntilAnswered(lane, async () => bytes)
  if (answer.status >= 400) return
  lane.world.notebook.violations.push(`a replay was answered ${JSON.stringify(answer)}`)
}
