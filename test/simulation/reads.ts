import type { RecordTypes } from 'open-payments-server'
import { lastSegment } from '../support/last-segment.ts'
import { BASE } from '../support/test-wallet.ts'
import { type Answer, send } from './exchange.ts'
import type { Granted } from './grants.ts'
import type { Knowledge } from './knowledge.ts'
import { isOver } from './payment-facts.ts'
import type { World } from './world.ts'

type OutgoingPayment = RecordTypes['outgoing-payment']

/** A client reads what it knows of; what it is told must have been so while it asked. */
export async function checkRead(world: World, known: Knowledge): Promise<void> {
  const { random } = world
  const made = known.orders.filter(({ made: ids }) => ids.size > 0)
  if (made.length === 0) return
  const order = random.pick(made)
  const [id = ''] = order.made
  const granted = tokenOf(known, order.asked.token)
  if (granted === undefined) return
  const asked = { client: granted.client, method: 'GET', token: granted.token.value } as const
  if (order.kind === 'outgoing-payment') {
    const before = world.storage.find('outgoing-payment', id)?.value
    if (random.chance(0.3)) return void (await send(world, { ...asked, url: `${BASE}/outgoing-payment-grant` }))
    const url = `${BASE}/outgoing-payments/${id}`
    await send(world, { ...asked, url }, ({ status, body }) => {
      if (status === 200) judgePayment(world, before, body)
    })
  }
  if (order.kind === 'incoming-payment') {
    const before = world.storage.find('incoming-payment', id)?.value
    const url = `${BASE}/incoming-payments/${id}`
    await send(world, { ...asked, url }, ({ status, body }) => {
      if (status === 200) judgeIncoming(world, before, body)
    })
  }
  if (order.kind === 'quote') await send(world, { ...asked, url: `${BASE}/quotes/${id}` })
}

/** Whoever asked with a token goes on with the one that came after it. */
function tokenOf(known: Knowledge, token: string | undefined): Granted | undefined {
  const all = [...known.spending, ...known.receiving]
  return all.find((granted) => granted.token.value === token) ?? all.at(-1)
}

export async function checkList(world: World, known: Knowledge): Promise<void> {
  const granted = known.spending.at(-1)
  if (granted?.owner === undefined) return
  const { client, owner, token } = granted
  const url = `${BASE}/outgoing-payments?wallet-address=${encodeURIComponent(owner)}&first=100`
  const isSeen = ({ walletAddress, client: by }: OutgoingPayment): boolean =>
    walletAddress === owner && by === client.id
  const before = world.storage
    .all('outgoing-payment')
    .filter(({ value, isListed }) => isListed === true && isSeen(value))
  await send(world, { client, method: 'GET', url, token: token.value }, ({ status, body }) => {
    if (status !== 200) return
    const listed = body.result.map(({ id }) => lastSegment(id))
    for (const { value } of before)
      if (!listed.includes(value.id)) world.violate(`13: ${value.id} is missing in a list`)
    for (const item of body.result) {
      const was = before.find(({ value }) => value.id === lastSegment(item.id))?.value
      const is = world.storage.find('outgoing-payment', lastSegment(item.id))
      if (is?.isListed !== true || !isSeen(is.value)) world.violate(`10: ${item.id} is listed for a stranger`)
      judgePayment(world, was, item)
    }
  })
}

/** Of two states that are final one after the other, an answer tells the one or the other. */
function judgePayment(world: World, before: OutgoingPayment | undefined, body: Answer['body']): void {
  const after = world.storage.find('outgoing-payment', lastSegment(body.id))?.value
  const told = `${Reflect.get(body, 'failed')} ${body.sentAmount.value}`
  const true_ = [before ?? after, after].map((one) => `${one?.state === 'failed'} ${one?.sentAmount.value}`)
  const isEarly = before === undefined || !isOver(before)
  if (!true_.includes(told) && !(isEarly && told === 'false 0'))
    world.violate(`5: ${body.id} is told as ${told}, and was ${true_.join(', then ')}`)
}

function judgeIncoming(world: World, before: RecordTypes['incoming-payment'] | undefined, body: Answer['body']): void {
  const after = world.storage.find('incoming-payment', lastSegment(body.id))?.value
  const told = BigInt(body.receivedAmount.value)
  const [least, most] = [before?.received.value ?? 0n, after?.received.value ?? 0n]
  if (told < least || told > most)
    world.violate(`4: ${body.id} is told to have received ${told}, not ${least} to ${most}`)
  const isWrong = body.completed ? after?.state !== 'completed' : before?.state === 'completed'
  if (isWrong) world.violate(`4: ${body.id} is told as ${body.completed ? 'completed' : 'open'}`)
}
