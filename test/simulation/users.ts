import type { Access, OutgoingPaymentAccess } from 'open-payments-server'
import { lastSegment } from '../support/last-segment.ts'
import { ALICE, BOB, CAROL } from '../support/test-wallet.ts'
import { setPermissions } from './accounts.ts'
import { pause, send } from './exchange.ts'
import { askWallet, continueGrant, type Granted, getConsented, getGrantedAtOnce, rotate } from './grants.ts'
import type { Knowledge } from './knowledge.ts'
import { newOrder, type Order, place } from './orders.ts'
import { sendPacket } from './rail-transfers.ts'
import { changeFarReceiver, decideAsHost } from './rail-users.ts'
import { checkList, checkRead } from './reads.ts'
import { latest, someReceiver } from './receivers.ts'
import { reportAgain, reportTransfer } from './transfers.ts'
import { CLIENTS, type World } from './world.ts'

const usd = (value: number) => ({ value: String(value), assetCode: 'USD', assetScale: 2 })
const eur = (value: number) => ({ value: String(value), assetCode: 'EUR', assetScale: 4 })
const amountIn = (isEuro: boolean, value: number) => (isEuro ? eur(value * 100) : usd(value))
const amountFor = (walletAddress: string, value: number) => amountIn(walletAddress === CAROL, value)

const RECEIVING: readonly Access[] = [
  { type: 'incoming-payment', actions: ['create', 'complete', 'read', 'list'] },
  { type: 'quote', actions: ['create', 'read'] },
]

/** As long as a key is kept, and a little less. */
const KEPT_MILLISECONDS = 20 * 3600 * 1000

/** Of Bob's account there are three addresses: so an account can be paid by itself under another one. */
const PAYEES = [BOB, BOB, CAROL, ALICE, CLIENTS[0], CLIENTS[1]] as const

const entryOf = (owner: string, limits?: OutgoingPaymentAccess['limits']): Access => ({
  type: 'outgoing-payment',
  actions: ['create', 'read', 'list'],
  identifier: owner,
  ...(limits && { limits }),
})

/** What owners are asked for; budgets that a few payments use up, and some that none does. */
export const SPENDING: readonly (readonly [owner: string, ...access: Access[]])[] = [
  [ALICE, entryOf(ALICE)],
  [ALICE, entryOf(ALICE, { debitAmount: usd(150) })],
  [ALICE, entryOf(ALICE, { debitAmount: usd(1_000) })],
  [ALICE, entryOf(ALICE, { receiveAmount: usd(250) })],
  [ALICE, entryOf(ALICE, { receiveAmount: eur(20_000) })],
  [ALICE, entryOf(ALICE, { debitAmount: usd(200), interval: 'R/2026-03-01T12:00:00Z/PT10M' })],
  [ALICE, entryOf(ALICE, { receiveAmount: usd(200), interval: 'R1/2026-03-01T12:00:00Z/PT5M' })],
  [ALICE, entryOf(ALICE, { debitAmount: usd(100) }), entryOf(ALICE, { debitAmount: usd(300) })],
  [BOB, entryOf(BOB, { debitAmount: usd(400) })],
  [BOB, entryOf(BOB)],
  [
    ALICE,
    entryOf(ALICE, { receiveAmount: eur(15_000), interval: 'R/2026-03-01T12:00:00Z/PT10M' }),
    entryOf(ALICE, { debitAmount: usd(90) }),
  ],
  [CLIENTS[0], entryOf(CLIENTS[0], { debitAmount: usd(300) })],
  [CAROL, entryOf(CAROL, { debitAmount: eur(30_000) })],
]

/** A grant to pay from one account. */
export async function getSpendingGrant(
  world: World,
  [owner, ...access]: (typeof SPENDING)[number],
  client = world.random.pick(world.clients),
): Promise<Granted | undefined> {
  const { random } = world
  const isFinished = random.chance(0.6)
  const isApproved = world.isFaulty ? random.chance(0.9) : true
  const asked: Access[] = [...access, { type: 'quote', actions: ['create', 'read'] }]
  return getConsented(world, client, owner, asked, { isFinished, isApproved })
}

export async function getReceivingGrant(
  world: World,
  client = world.random.pick(world.clients),
): Promise<Granted | undefined> {
  return getGrantedAtOnce(world, client, RECEIVING)
}

async function getGrant(world: World, known: Knowledge): Promise<void> {
  const isSpending = world.random.chance(0.7)
  const granted = await (isSpending ? getSpendingGrant(world, world.random.pick(SPENDING)) : getReceivingGrant(world))
  if (granted !== undefined) known[isSpending ? 'spending' : 'receiving'].push(granted)
}

/** A grant that seems to be alive; now and then any. */
function someGrant(world: World, known: Knowledge): Granted | undefined {
  const isAlive = ({ continueUri }: Granted): boolean =>
    world.storage.find('grant', lastSegment(continueUri))?.value.state === 'issued'
  return latest(world, world.random.chance(0.9) ? known.spending.filter(isAlive) : known.spending)
}

function keyFor({ random, shape }: World, known: Knowledge): { readonly key?: string } {
  if (!random.chance(shape.keyed)) return {}
  // Now and then a key that was used before, for something else.
  const reused = random.chance(0.05) ? latest({ random } as World, known.orders)?.asked.key : undefined
  return { key: reused ?? `key-${known.keys++}` }
}

/** What an incoming payment is to be like. */
export interface WantedIncoming {
  readonly walletAddress: string
  /** In cents, of whichever currency; absent: whatever comes. */
  readonly value?: number
  /** In milliseconds from now; absent: as long as the wallet keeps it open. */
  readonly expiresIn?: number
}

const drawIncoming = ({ random }: World): WantedIncoming => ({
  walletAddress: random.pick(PAYEES),
  ...(random.chance(0.5) && { value: random.between(20, 900) }),
  ...(random.chance(0.2) && { expiresIn: random.pick([2_000, 20_000, 120_000]) }),
})

export async function createIncoming(world: World, known: Knowledge, wanted = drawIncoming(world)): Promise<void> {
  const granted = latest(world, known.receiving)
  if (granted === undefined) return
  const { walletAddress, value, expiresIn } = wanted
  const amount = value === undefined ? {} : { incomingAmount: amountFor(walletAddress, value) }
  const expiry = expiresIn === undefined ? {} : { expiresAt: new Date(world.now() + expiresIn).toISOString() }
  const { client, token } = granted
  const number = known.orders.length
  const json = { walletAddress, ...amount, ...expiry, metadata: { order: number } }
  const order = newOrder(world, number, 'incoming-payment', {
    client,
    token: token.value,
    json,
    ...keyFor(world, known),
  })
  known.orders.push(order)
  const answer = await place(world, order)
  if (answer?.status !== 201) return
  const [method] = answer.body.methods
  const { ilpAddress } = method ?? {}
  known.incomings.push({ url: answer.body.id, walletAddress, granted, ...(ilpAddress !== undefined && { ilpAddress }) })
}

export async function createQuote(world: World, known: Knowledge): Promise<void> {
  const { random } = world
  const granted = someGrant(world, known)
  const receiver = granted?.owner && someReceiver(world, known, granted.owner)
  if (granted?.owner === undefined || !receiver) return
  const walletAddress = granted.owner
  const amount = random.weigh<object>([
    [5, { debitAmount: amountFor(walletAddress, random.between(2, random.pick([20, 60, 300]))) }],
    [3, { receiveAmount: amountIn(receiver.isEuro, random.between(1, random.pick([20, 200]))) }],
    [2, {}],
  ])
  const { client, token } = granted
  const number = known.orders.length
  const json = { walletAddress, receiver: receiver.url, method: 'ilp', ...amount }
  const order = newOrder(world, number, 'quote', { client, token: token.value, json, ...keyFor(world, known) })
  known.orders.push(order)
  const answer = await place(world, order)
  if (answer?.status === 201) known.quotes.push({ url: answer.body.id, walletAddress, client })
}

/** Orders one payment or several at once: from a quote, which several may want, or straight from an incoming payment. */
export async function pay(world: World, known: Knowledge): Promise<void> {
  const count = world.random.chance(0.25) ? world.random.between(2, 4) : 1
  const granted = someGrant(world, known)
  if (granted?.owner === undefined) return
  const { owner, client, token } = granted
  const quote = someQuote(world, known, granted)
  const receiver = someReceiver(world, known, owner)
  if ((quote ?? receiver) === undefined) return
  await Promise.all(
    Array.from({ length: count }, async () => {
      const number = known.orders.length
      const debitAmount = amountFor(owner, world.random.between(2, world.random.pick([20, 60, 300])))
      const from = quote === undefined ? { incomingPayment: receiver?.url, debitAmount } : { quoteId: quote.url }
      const json = { walletAddress: owner, ...from, metadata: { order: number } }
      const order = newOrder(world, number, 'outgoing-payment', {
        client,
        token: token.value,
        json,
        ...keyFor(world, known),
      })
      known.orders.push(order)
      const answer = await place(world, order)
      if ((answer === undefined || answer.status >= 500) && order.asked.key !== undefined) await place(world, order)
      if (answer?.status === 401 && world.random.chance(0.5)) await rotate(world, granted)
    }),
  )
}

/** A quote that is open; now and then one that was used, or none. */
function someQuote(world: World, known: Knowledge, { owner }: Granted): Knowledge['quotes'][number] | undefined {
  const { random, storage } = world
  if (random.chance(0.35)) return undefined
  const owned = known.quotes.filter(({ walletAddress }) => walletAddress === owner)
  const isApt = ({ url }: { readonly url: string }): boolean => {
    const quote = storage.find('quote', lastSegment(url))?.value
    return quote?.state === 'open' && quote.expiresAt > world.now()
  }
  return latest(world, random.chance(0.85) ? owned.filter(isApt) : owned)
}

/** Gives an order again under its key, or sends again what somebody has captured. */
async function orderAgain(world: World, known: Knowledge): Promise<void> {
  const order = latest(world, known.orders)
  if (order === undefined || world.now() - order.sentAt > KEPT_MILLISECONDS) return
  const captured = latest(world, order.exchanges)
  const isReplay = order.asked.key === undefined || world.random.chance(0.3)
  // Without a key what is no payment may be made again and again.
  if (captured === undefined || (order.kind !== 'outgoing-payment' && order.asked.key === undefined)) return
  await place(world, order, isReplay ? captured : undefined)
}

async function complete(world: World, known: Knowledge): Promise<void> {
  const incoming = latest(world, known.incomings)
  if (incoming === undefined) return
  const { url, granted } = incoming
  world.commits.completedByCall.add(lastSegment(url))
  await send(
    world,
    { client: granted.client, method: 'POST', url: `${url}/complete`, token: granted.token.value },
    ({ status }) => {
      const state = world.storage.find('incoming-payment', lastSegment(url))?.value.state
      if (status === 200 && state !== 'completed') world.violate(`4: ${url} was completed and is ${state}`)
    },
  )
}

async function endGrant(world: World, known: Knowledge): Promise<void> {
  const granted = someGrant(world, known)
  if (granted?.owner === undefined) return
  const { client, owner, continueUri, continueToken, token } = granted
  await world.random.weigh<() => Promise<unknown>>([
    [1, () => send(world, { client, method: 'DELETE', url: token.manage, token: token.value })],
    [1, () => send(world, { client, method: 'DELETE', url: continueUri, token: continueToken })],
    [1, () => askWallet(world, ({ grants }) => grants.revoke(owner, lastSegment(continueUri)))],
    [1, () => askWallet(world, ({ grants }) => grants.list(owner))],
    [3, () => continueGrant(world, granted)],
    [4, () => rotate(world, granted)],
  ])()
}

/** A last repeat of something that was ordered under a key, and of a transfer that was counted. */
export function askOnceMore(world: World, known: Knowledge): void {
  const { random, now } = world
  const isKept = ({ sentAt }: Order): boolean => now() - sentAt < KEPT_MILLISECONDS
  const keyed = known.orders.filter((order) => order.asked.key !== undefined && order.made.size > 0 && isKept(order))
  if (keyed.length > 0) place(world, random.pick(keyed))
  const counted = known.transfers.filter(({ accepted }) => accepted !== undefined)
  if (counted.length > 0) reportAgain(world, random.pick(counted))
}

/** The wallet closes a wallet address, or opens it again. */
async function closeOrOpenAddress({ random, directory, met }: World): Promise<void> {
  const url = random.pick([ALICE, BOB, CAROL, CLIENTS[1]])
  const address = directory.get(url)
  if (address === undefined) return
  const isActive = address.isActive === false || random.chance(0.3)
  met(isActive ? 'a wallet address is opened' : 'a wallet address is closed')
  directory.set(url, { ...address, isActive })
}

const WEIGHTS: readonly (readonly [number, (world: World, known: Knowledge) => Promise<unknown>])[] = [
  [9, createIncoming],
  [14, createQuote],
  [38, pay],
  [14, orderAgain],
  [4, complete],
  [7, (world, known) => reportTransfer(world, known.transfers, latest(world, known.incomings))],
  [4, checkRead],
  [2, checkList],
  [4, endGrant],
  [1, getGrant],
  [4, setPermissions],
  [3, closeOrOpenAddress],
  [1, (world) => askWallet(world, (wallet) => wallet.sweep())],
  [1, (world) => askWallet(world, (wallet) => wallet.recover())],
]

/** Where there is a rail, its peer, other servers and the host are at it too. */
const RAIL_WEIGHTS: typeof WEIGHTS = [
  ...WEIGHTS,
  [30, pay],
  [14, sendPacket],
  [10, changeFarReceiver],
  [8, decideAsHost],
]

/** One person or program that goes on until the run has had enough actions. */
export async function actUntil(world: World, known: Knowledge, isEnough: () => boolean): Promise<void> {
  const { random, shape } = world
  while (!isEnough()) {
    await pause(world, shape.thinking === 0 ? 0 : random.between(0, shape.thinking))
    while (!world.processes.some(({ isAlive }) => isAlive)) await pause(world, 500)
    await random.weigh(shape.rail === undefined ? WEIGHTS : RAIL_WEIGHTS)(world, known)
  }
}
