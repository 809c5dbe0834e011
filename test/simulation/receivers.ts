import { lastSegment } from '../support/last-segment.ts'
import { CAROL } from '../support/test-wallet.ts'
import type { FarReceiver } from './far-side.ts'
import type { Knowledge } from './knowledge.ts'
import { createFarReceiver } from './rail-users.ts'
import type { World } from './world.ts'

/** Somebody to be paid, here or elsewhere. */
interface Receiver {
  readonly url: string
  readonly isEuro: boolean
}

/** The last of a list, or any of it. */
export const latest = <T>({ random }: World, list: readonly T[]): T | undefined =>
  list.length === 0 ? undefined : random.chance(0.6) ? list.at(-1) : random.pick(list)

/** One that would take this much now, as far as the records say; now and then any. */
export function someReceiver(world: World, known: Knowledge, payer: string): Receiver | undefined {
  const { random, storage, shape } = world
  if (shape.rail !== undefined && random.chance(shape.rail.share)) return someFarReceiver(world)
  const isApt = ({ url, walletAddress }: Knowledge['incomings'][number]): boolean => {
    const payment = storage.find('incoming-payment', lastSegment(url))?.value
    if (payment === undefined || (payer === CAROL && walletAddress !== CAROL)) return false
    const left =
      payment.incomingAmount && payment.incomingAmount.value - payment.received.value - payment.reserved.value
    const isOpen = payment.state === 'pending' || payment.state === 'processing'
    return isOpen && (payment.expiresAt ?? 0) > world.now() && (left === undefined || left > 20n)
  }
  const receiver = latest(world, random.chance(0.85) ? known.incomings.filter(isApt) : known.incomings)
  return receiver && { url: receiver.url, isEuro: receiver.walletAddress === CAROL }
}

/** One at another server that would take something now; now and then any. */
function someFarReceiver(world: World): Receiver {
  const { far, random, now } = world
  const isApt = ({ isCompleted, hasMethod, expiresAt, incomingValue, receivedValue }: FarReceiver): boolean =>
    !isCompleted &&
    hasMethod &&
    (expiresAt ?? now()) >= now() &&
    (incomingValue ?? receivedValue + 21n) > receivedValue + 20n
  const known = latest(world, random.chance(0.85) ? far.receivers.filter(isApt) : far.receivers)
  const { url, asset } = known ?? createFarReceiver(world)
  return { url, isEuro: asset.assetCode === 'EUR' }
}
