import type { Asset, FoundReceiver, IlpPaymentMethod, RecordTypes } from 'open-payments-server'
import { foundReceiver, REMOTE } from '../support/fake-remote-receivers.ts'
import { ceilDivide } from './payment-facts.ts'
import type { Random } from './random.ts'
import type { RailShape } from './shape.ts'
import type { SimulatedStorage } from './simulated-storage.ts'

type OutgoingPayment = RecordTypes['outgoing-payment']

/** An incoming payment on another server. */
export interface FarReceiver {
  readonly url: string
  asset: Asset
  incomingValue: bigint | undefined
  receivedValue: bigint
  isCompleted: boolean
  expiresAt: number | undefined
  hasMethod: boolean
  /** How it is paid, as its server says now; last of all that it has ever said, each of which stays good. */
  readonly details: IlpPaymentMethod[]
}

/** What left in one go, or in all, and what of it arrived. */
export interface Moved {
  readonly sent: bigint
  readonly received: bigint
}

/** A part of a payment as it is sent; whoever sends it again names the same. */
export interface Part {
  readonly payment: string
  readonly number: number
  readonly sent: bigint
  /** The least of which its sender lets it go. */
  readonly least: bigint
  readonly details: IlpPaymentMethod
}

/** The other end of the rail, with its own books: what really left and arrived. Processes end, and it remembers. */
export interface FarSide {
  readonly receivers: readonly FarReceiver[]
  add(members?: Partial<FarReceiver>): FarReceiver
  /** Its server names another address and another secret from now on. */
  renewDetails(receiver: FarReceiver): void
  /** What the receiver's server says of it now. */
  read(url: string): FoundReceiver
  receiverOf(details: IlpPaymentMethod): FarReceiver | undefined
  /** Takes a part, or rejects it: once, and then says the same each time. Answers what of it arrived. */
  take(part: Part): Moved
  /** What has really left for a payment, and arrived. */
  movedFor(payment: string): Moved
  /** What a person finds out of a payment that is left to the host: from then on nothing of it moves any more. */
  findOut(payment: OutgoingPayment): 'sent' | 'failed'
  /** Whether all parts are taken from now on that a receiver has room for. */
  isKind: boolean
}

const USD = { assetCode: 'USD', assetScale: 2 } as const
const EUR = { assetCode: 'EUR', assetScale: 4 } as const

const NOTHING: Moved = { sent: 0n, received: 0n }

/** Each part that came before may have brought one unit more than its share. */
const ROUNDING = 4n

interface FarOptions {
  readonly random: Random
  readonly rail: RailShape | undefined
  readonly storage: SimulatedStorage
  now(): number
  met(what: string): void
  violate(text: string): void
}

export function createFarSide({ random, rail, storage, now, met, violate }: FarOptions): FarSide {
  const receivers: FarReceiver[] = []
  const parts = new Map<string, Moved & { readonly address: string }>()
  const moved = new Map<string, Moved>()
  const found = new Map<string, 'sent' | 'failed'>()
  let named = 0

  const nextDetails = (): IlpPaymentMethod => {
    const number = ++named
    const sharedSecret = Buffer.alloc(32, `secret ${number} `).toString('base64url')
    return { type: 'ilp', ilpAddress: `test.other-wallet.${number}`, sharedSecret }
  }

  const receiverOf = ({ ilpAddress, sharedSecret }: IlpPaymentMethod): FarReceiver | undefined =>
    receivers.find(({ details }) =>
      details.some((one) => one.ilpAddress === ilpAddress && one.sharedSecret === sharedSecret),
    )

  const isOpen = ({ isCompleted, expiresAt, hasMethod }: FarReceiver): boolean =>
    !isCompleted && hasMethod && (expiresAt === undefined || now() <= expiresAt)

  const book = (payment: string, { sent, received }: Moved): void => {
    const before = moved.get(payment) ?? NOTHING
    moved.set(payment, { sent: before.sent + sent, received: before.received + received })
  }

  /** New value leaves only where it is written down that it may. */
  function checkWrittenDown({ payment, number, sent, least }: Part): void {
    const stored = storage.find('outgoing-payment', payment)?.value
    const isInFlight =
      stored?.delivery !== undefined &&
      readNotes(stored.delivery.notes).flying.some(
        (one) => one.number === number && one.sent === sent && one.least === least,
      )
    if (stored?.state !== 'sending' || !isInFlight)
      violate(`rail: part ${number} of ${payment} left, and is not written down as in flight`)
  }

  /** What a receiver gets of a part; nothing where it does not take it. */
  function arrivingAt(receiver: FarReceiver, { sent, least }: Part): Moved {
    const room = receiver.incomingValue === undefined ? undefined : receiver.incomingValue - receiver.receivedValue
    const isRejected = isKind() ? false : random.chance(rail?.rejects ?? 0)
    if (isRejected || !isOpen(receiver) || (room !== undefined && room + ROUNDING < least)) return NOTHING
    // An exchange on the way may give more than it promised.
    const received = least + (random.chance(0.2) ? least / 20n : 0n)
    return { sent, received: room !== undefined && room < received ? room : received }
  }

  const isKind = (): boolean => side.isKind

  const side: FarSide = {
    receivers,
    isKind: true,
    receiverOf,
    add(members = {}) {
      const receiver: FarReceiver = {
        url: `${REMOTE}/incoming-payments/payment-${receivers.length + 1}`,
        asset: USD,
        incomingValue: undefined,
        receivedValue: 0n,
        isCompleted: false,
        expiresAt: undefined,
        hasMethod: true,
        details: [nextDetails()],
        ...members,
      }
      receivers.push(receiver)
      return receiver
    },
    renewDetails: ({ details }) => void details.push(nextDetails()),
    read(url) {
      const receiver = receivers.find((one) => one.url === url)
      if (receiver === undefined) return { ok: false, reason: 'unknown' }
      // Each second one names its payee, and another one whenever it is named anew.
      const number = receivers.indexOf(receiver)
      const walletAddress = number % 2 === 0 ? undefined : `${REMOTE}/payee-${number}-${receiver.details.length}`
      return foundReceiver({ ...receiver, walletAddress }, isOpen(receiver) ? receiver.details.slice(-1) : [])
    },
    take(part) {
      const key = `${part.payment}:${part.number}`
      const known = parts.get(key)
      if (known !== undefined) {
        met('a part arrives again')
        if (known.address !== part.details.ilpAddress) violate(`rail: part ${key} is looked for where it was not sent`)
        return known
      }
      const receiver = receiverOf(part.details)
      // After somebody has found out, what is still on its way is sent back.
      const isOver = found.has(part.payment)
      if (!isOver) checkWrittenDown(part)
      if (receiver === undefined) violate(`rail: part ${part.number} of ${part.payment} is for nobody`)
      const arrived = receiver === undefined || isOver ? NOTHING : arrivingAt(receiver, part)
      met(arrived.sent === 0n ? 'a part is rejected' : 'a part arrives')
      parts.set(key, { ...arrived, address: part.details.ilpAddress })
      book(part.payment, arrived)
      if (receiver !== undefined) payFar(receiver, arrived.received)
      return arrived
    },
    movedFor: (payment) => moved.get(payment) ?? NOTHING,
    findOut({ id, delivery }) {
      const said = found.get(id)
      if (said !== undefined) return said
      if (delivery === undefined) throw new Error(`nothing of ${id} was ever sent`)
      const arrived = moved.get(id) ?? NOTHING
      const unknown = arrived.sent - BigInt(delivery.sent)
      const missing = { sent: BigInt(delivery.inFlightSent) - unknown, received: BigInt(delivery.inFlightReceived) }
      // Nothing has arrived: it is given up, or sent by hand. A part of it has: the two wallets see to the rest.
      const word = unknown === 0n && random.chance(0.5) ? 'failed' : 'sent'
      const brought = arrived.received - BigInt(delivery.received)
      if (word === 'sent') {
        const received = missing.received > brought ? missing.received - brought : 0n
        if (missing.sent > 0n)
          met(unknown === 0n ? 'a delivery is made by hand' : 'the rest of a delivery is made by hand')
        book(id, { sent: missing.sent, received })
      }
      met(`somebody finds out: ${word}`)
      found.set(id, word)
      return word
    },
  }

  return side
}

/** A receiver gets money, whoever pays it. */
export function payFar(receiver: FarReceiver, value: bigint): void {
  receiver.receivedValue += value
  const { incomingValue, receivedValue } = receiver
  if (incomingValue !== undefined && receivedValue >= incomingValue) receiver.isCompleted = true
}

/** A part of which it is not known what became of it. */
export interface Flying {
  readonly number: number
  readonly sent: bigint
  readonly least: bigint
}

/** What the simulated rail writes down: how many parts it has made, and which are in flight. */
export interface Notes {
  readonly made: number
  readonly flying: readonly Flying[]
}

export function readNotes(text: string): Notes {
  if (text === '') return { made: 0, flying: [] }
  const [made, ...flying] = text.split(' ')
  return {
    made: Number(made),
    flying: flying.map((one) => {
      const [number, sent, least] = one.split(':')
      return { number: Number(number), sent: BigInt(sent ?? 0), least: BigInt(least ?? 0) }
    }),
  }
}

export function writeNotes({ made, flying }: Notes): string {
  return [String(made), ...flying.map(({ number, sent, least }) => `${number}:${sent}:${least}`)].join(' ')
}

/** Between two assets: through which account of the rail money leaves, and what arrives at least. */
export interface Way {
  readonly account: string
  readonly asset: Asset
  readonly rate: { readonly sent: bigint; readonly received: bigint }
}

export const DOLLARS = 'test.peer/USD/2'
export const EUROS = 'test.peer/EUR/4'

/** From dollars to euros the rail or the wallet exchanges; from euros to dollars the rail alone has a price. */
export function wayBetween({ slippage, isExchangedByRail }: RailShape, from: Asset, to: Asset): Way {
  const hundred = 100n - slippage
  if (from.assetCode === 'EUR') {
    const rate = to.assetCode === 'EUR' ? { sent: 100n, received: hundred } : { sent: 10_000n, received: hundred }
    return { account: EUROS, asset: EUR, rate }
  }
  if (to.assetCode === 'USD') return { account: DOLLARS, asset: USD, rate: { sent: 100n, received: hundred } }
  if (!isExchangedByRail) return { account: EUROS, asset: EUR, rate: { sent: 100n, received: hundred } }
  return { account: DOLLARS, asset: USD, rate: { sent: 100n, received: 90n * hundred } }
}

/** What must arrive of a part, so that no part goes below the rate of the whole. */
export function leastOf(sent: bigint, whole: { readonly send: bigint; readonly receive: bigint }): bigint {
  return ceilDivide(sent * whole.receive, whole.send)
}
