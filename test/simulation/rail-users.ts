import { someProcess, untilHeard } from './exchange.ts'
import { type FarReceiver, payFar } from './far-side.ts'
import { askWallet } from './grants.ts'
import type { Knowledge } from './knowledge.ts'
import { isLeftToHost } from './payment-facts.ts'
import { tellAgain } from './rail-transfers.ts'
import type { World } from './world.ts'

const USD = { assetCode: 'USD', assetScale: 2 } as const
const EUR = { assetCode: 'EUR', assetScale: 4 } as const

/** Somebody at another server asks for money. */
export function createFarReceiver({ far, random, now }: World): FarReceiver {
  const isEuro = random.chance(0.4)
  const value = BigInt(random.between(20, 900) * (isEuro ? 100 : 1))
  return far.add({
    asset: isEuro ? EUR : USD,
    ...(random.chance(0.5) && { incomingValue: value }),
    ...(random.chance(0.2) && { expiresAt: now() + random.pick([2_000, 20_000, 120_000]) }),
  })
}

/** What becomes of a receiver at another server between its quote and its payment. */
export async function changeFarReceiver(world: World): Promise<void> {
  const { far, random, met, shape, now } = world
  if (shape.rail === undefined) return
  const receiver = far.receivers.at(-1)
  if (receiver === undefined || random.chance(0.3)) return void createFarReceiver(world)
  const [name, change] = random.weigh<readonly [string, () => void]>([
    [3, ['is completed', () => Object.assign(receiver, { isCompleted: true })]],
    [2, ['expires', () => Object.assign(receiver, { expiresAt: now() - 1 })]],
    [3, ['is paid by somebody else', () => payFar(receiver, BigInt(random.between(1, 300)))]],
    [3, ['is named anew', () => far.renewDetails(receiver)]],
    [2, ['is not to be paid any more', () => Object.assign(receiver, { hasMethod: false })]],
    [1, ['changes its asset', () => Object.assign(receiver, { asset: receiver.asset === EUR ? USD : EUR })]],
  ])
  met(`a receiver elsewhere ${name}`)
  change()
}

/** The host looks for payments that wait for its word, finds out about one of them and says so; maybe twice. */
export async function decideAsHost(world: World): Promise<void> {
  const { random, shape } = world
  if (shape.rail === undefined) return
  const listed = await listUndecided(world)
  const [id] = listed ?? []
  if (id !== undefined) await Promise.all(Array.from({ length: random.between(1, 2) }, () => sayAsHost(world, id)))
}

/** The ids of all payments that wait for the host; each of them, and no other, while it waits. */
async function listUndecided(world: World): Promise<readonly string[] | undefined> {
  const { storage, violate } = world
  const waiting = (): readonly string[] =>
    storage.all('outgoing-payment').flatMap(({ value }) => (isLeftToHost(value) ? [value.id] : []))
  const process = someProcess(world)
  if (process === undefined) return undefined
  const before = waiting()
  const asked = process.openPayments.outgoingPayments.undecided().then((listed) => {
    const after = waiting()
    const ids = listed.map(({ id }) => id)
    const missing = before.find((id) => after.includes(id) && !ids.includes(id))
    const strange = ids.find((id) => !before.includes(id) && !after.includes(id))
    if (missing !== undefined) violate(`8: ${missing} waits for the host, and is not listed`)
    if (strange !== undefined) violate(`8: ${strange} is listed for the host, and does not wait for it`)
    return ids
  })
  return untilHeard(world, process, asked)
}

async function sayAsHost(world: World, id: string): Promise<void> {
  const { storage, far, met, violate } = world
  const payment = storage.find('outgoing-payment', id)?.value
  if (payment === undefined || (!isLeftToHost(payment) && payment.delivery?.saidByHost === undefined)) return
  const word = payment.delivery?.saidByHost ?? far.findOut(payment)
  const said = await askWallet(world, async ({ outgoingPayments }) => {
    const answer = await outgoingPayments[word](id)
    const { state, delivery } = storage.find('outgoing-payment', id)?.value ?? {}
    const isSo = delivery?.saidByHost === word && state !== 'sending'
    if (!answer.ok) violate(`8: the host said ${word} of ${id}, and was told ${answer.reason}`)
    else if (!isSo) violate(`8: the host said ${word} of ${id}, which is ${state}`)
    return answer
  })
  if (said?.ok !== true) return
  met(`the host said ${word}`)
  // Another word comes too late.
  const other = word === 'sent' ? 'failed' : 'sent'
  const answer = await askWallet(world, ({ outgoingPayments }) => outgoingPayments[other](id))
  const isRefused = answer === undefined || (!answer.ok && answer.reason === 'conflict')
  if (!isRefused) violate(`8: the host said ${word} of ${id}, and then ${other}`)
}

/** With all faults gone: what is left to the host is listed, and it says how each ended; a peer finds out what it has paid. */
export async function endRails(
  world: World,
  known: Pick<Knowledge, 'packets'>,
  runOut: () => Promise<void>,
): Promise<void> {
  if (world.shape.rail === undefined || world.violations.length > 0) return
  const left = world.storage.all('outgoing-payment').filter(({ value }) => isLeftToHost(value))
  const ended = (async () => {
    const listed = await listUndecided(world)
    if (listed?.length !== left.length)
      world.violate(`8: ${left.length} wait for the host, ${listed?.length} are listed`)
    for (const id of listed ?? []) {
      world.met('a payment is left to the host at the end')
      await sayAsHost(world, id)
    }
    await tellAgain(world, known.packets)
  })()
  await runOut()
  // A run ends with the first that was found, whoever still waits.
  if (world.violations.length === 0) await ended
}
