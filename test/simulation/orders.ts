import type { RecordTypes } from 'open-payments-server'
import { lastSegment } from '../support/last-segment.ts'
import { BASE } from '../support/test-wallet.ts'
import { type Answer, type Asked, deliver, type Exchange, sign } from './exchange.ts'
import type { SimulatedProcess, World } from './world.ts'

type Kind = 'outgoing-payment' | 'incoming-payment' | 'quote'

/** Something that a client wants made once, with every request that asked for it. */
export interface Order {
  /** Stands in the metadata of what is made, so that it can be found whatever the client heard. */
  readonly number: number
  readonly kind: Kind
  readonly asked: Asked
  readonly exchanges: Exchange[]
  /** When it was first sent: a key is kept for a day. */
  readonly sentAt: number
  /** The ids of the answers that said 201. */
  readonly made: Set<string>
  readonly texts: Set<string>
}

const COLLECTIONS: Readonly<Record<Kind, string>> = {
  'outgoing-payment': 'outgoing-payments',
  'incoming-payment': 'incoming-payments',
  quote: 'quotes',
}

/** The payments that were made for an order and not undone. */
export function paymentsOf({ storage }: World, number: number): readonly RecordTypes['outgoing-payment'][] {
  return storage
    .all('outgoing-payment')
    .map(({ value }) => value)
    .filter(({ metadata, state }) => metadata?.['order'] === number && state !== 'refused')
}

export function newOrder(world: World, number: number, kind: Kind, asked: Omit<Asked, 'method' | 'url'>): Order {
  const url = `${BASE}/${COLLECTIONS[kind]}`
  const order: Order = {
    number,
    kind,
    asked: { isUnique: kind === 'outgoing-payment' && world.random.chance(0.5), ...asked, method: 'POST', url },
    exchanges: [],
    sentAt: world.now(),
    made: new Set(),
    texts: new Set(),
  }
  return order
}

/** Asks for what is ordered, for the first time or again; `captured` is a request of before, which somebody sends once more. */
export async function place(
  world: World,
  order: Order,
  captured?: Exchange,
  via?: SimulatedProcess,
): Promise<Answer | undefined> {
  const before = order.kind === 'outgoing-payment' ? paymentsOf(world, order.number) : []
  const isAgain = order.exchanges.length > 0
  if (isAgain) world.met(captured === undefined ? 'an order is given again' : 'a request is replayed')
  const request = captured?.request ?? (await sign(world, order.asked))
  const exchange: Exchange = { asked: { ...order.asked, ...(via && { via }) }, request, answer: undefined }
  order.exchanges.push(exchange)
  return deliver(world, exchange, (answer) => {
    judgeOrder(world, order, answer, before, captured)
    if (answer.status === 201 && isAgain) world.met('an order that is given again is answered 201')
  })
}

/** A hold that was refused has used the signature of its request up. */
const REFUSED_BY_LEDGER: readonly string[] = ['insufficient_funds', 'account_closed']

/** What an answer to an order says must be so. */
function judgeOrder(
  world: World,
  order: Order,
  { status, text, body }: Answer,
  before: readonly RecordTypes['outgoing-payment'][],
  captured: Exchange | undefined,
): void {
  const name = `order ${order.number}`
  if (status === 201) {
    const id = lastSegment(body.id)
    order.made.add(id)
    order.texts.add(text ?? '')
    if (order.made.size > 1) world.violate(`${name} was answered with ${[...order.made].join(' and ')}`)
    const isSame = order.asked.key === undefined || order.texts.size === 1
    if (!isSame) world.violate(`${name} was answered with ${[...order.texts].join(' and ')}`)
    if (world.storage.find(order.kind, id) === undefined)
      world.violate(`${name} was answered with ${id}, which is not there`)
    if (order.kind === 'outgoing-payment') judgeSpent(world, name, id, body)
    const isUsedUp = REFUSED_BY_LEDGER.includes(captured?.answer?.body?.error?.code ?? '')
    if (isUsedUp && before.length === 0)
      world.violate(`${name} was refused, and paid by a request that somebody had captured`)
    return
  }
  // A token that ended since is refused before anybody looks for what was made with it.
  if (status < 400 || status >= 500 || status === 401 || order.asked.key === undefined) return
  const still = before.filter(({ id }) => paymentsOf(world, order.number).some((one) => one.id === id))
  if (still.length > 0) world.violate(`${name} was refused with ${status} and had been made: ${still[0]?.id}`)
}

/** The answer tells what the grant had spent with the payment. @spec OUT-10 */
function judgeSpent(world: World, name: string, id: string, body: Answer['body']): void {
  const told = Reflect.get(body, 'grantSpentDebitAmount') as { readonly value: string } | undefined
  const spent = world.commits.spentWith(id)?.toString()
  if (told?.value !== spent) world.violate(`15: ${name} tells ${told?.value} spent, its grant had ${spent}`)
}
