import type { RailTransfer, TransferOutcome } from 'open-payments-server'
import { idOf } from '../../src/testing/ledger-case.ts'
import { CAROL } from '../support/test-wallet.ts'
import { closeForAWhile } from './accounts.ts'
import { pause, someProcess, untilHeard } from './exchange.ts'
import { DOLLARS, EUROS } from './far-side.ts'
import type { Knowledge } from './knowledge.ts'
import type { SimulatedProcess, World } from './world.ts'

/** A packet of a peer: whoever sends it again sends the very same. */
export interface Packet {
  readonly id: string
  /** By which a payment is called on its way. */
  readonly address: string
  readonly isEuro: boolean
  readonly value: bigint
  /** The part of it that its sender insists on, in hundredths. */
  readonly insists: bigint
  readonly notAfter: number
}

const USD = { assetCode: 'USD', assetScale: 2 } as const
const EUR = { assetCode: 'EUR', assetScale: 4 } as const

/** A peer sends a packet, or one that it has sent before, maybe to two processes at once. */
export async function sendPacket(world: World, known: Knowledge): Promise<void> {
  const { random, shape, met } = world
  const payable = known.incomings.filter(({ ilpAddress }) => ilpAddress !== undefined)
  if (shape.rail === undefined || payable.length === 0) return
  const old = known.packets.length > 0 && random.chance(0.4) ? random.pick(known.packets) : undefined
  const packet = old ?? newPacket(world, random.chance(0.6) ? payable.at(-1) : random.pick(payable), known)
  if (old === undefined) known.packets.push(packet)
  else met('a packet is sent again')
  const count = random.chance(0.2) ? 2 : 1
  await Promise.all(Array.from({ length: count }, () => tellPacket(world, packet)))
}

function newPacket(world: World, incoming: Knowledge['incomings'][number] | undefined, known: Knowledge): Packet {
  const { random } = world
  const isEuro = incoming?.walletAddress === CAROL && random.chance(0.7)
  const value = BigInt(random.between(1, random.pick([20, 60, 300])) * (isEuro ? 100 : 1))
  return {
    id: idOf(known.packets.length + 1),
    address: incoming?.ilpAddress?.replace('test.here.', '') ?? '',
    isEuro,
    value,
    insists: random.pick([0n, 50n, 100n, 100n]),
    // Some are too late, or nearly.
    notAfter:
      world.now() +
      random.weigh([
        [1, -1],
        [2, 500],
        [6, 30_000],
      ]),
  }
}

/** Tells some process of a packet, as its rail does: looks for the payment, and says what has come for it. */
export async function tellPacket(
  world: World,
  packet: Packet,
  isRefused = false,
): Promise<TransferOutcome | undefined> {
  const process = someProcess(world)
  if (process?.rail === undefined) return undefined
  const outcome = await untilHeard(world, process, receive(world, process, packet, isRefused))
  if (outcome === undefined) world.met('nobody knows whether a packet was taken')
  return outcome
}

async function receive(
  world: World,
  process: SimulatedProcess,
  { id, address, isEuro, value, insists, notAfter }: Packet,
  isRefused: boolean,
): Promise<TransferOutcome | undefined> {
  const { rail } = process
  const found = await rail?.findPayable(address)
  if (rail === undefined || found === undefined) return undefined
  const accountAmount = { ...(isEuro ? EUR : USD), value }
  const amount = await rail.exchange(accountAmount, found.asset, found.walletAddress)
  if (amount === undefined || amount.value === 0n) return undefined
  const { limit } = world.shape.rail ?? {}
  const transfer: RailTransfer = {
    id,
    incomingPayment: found.id,
    amount,
    least: (amount.value * insists) / 100n,
    account: isEuro ? EUROS : DOLLARS,
    accountAmount,
    ...(limit !== undefined && { most: limit }),
    notAfter,
    ...(isRefused && { isRefused }),
  }
  world.railWatch.tells(transfer)
  const outcome = await rail.receive(transfer)
  world.railWatch.hears(transfer, outcome)
  const payee = world.directory.get(found.walletAddress)?.account
  // Just before it is credited.
  if (outcome === 'received' && payee !== undefined && world.isFaulty && world.random.chance(0.3))
    closeForAWhile(world, payee, true)
  return outcome
}

/** With all faults gone a peer finds out what became of each packet: it is taken, or refused for good. */
export async function tellAgain(world: World, packets: readonly Packet[]): Promise<void> {
  for (const packet of packets) {
    if (!world.railWatch.transfers.has(packet.id)) continue
    const before = world.railWatch.transfers.get(packet.id)?.isTaken
    const outcome = await tellPacket(world, packet, true)
    if (outcome === undefined) world.violate(`rail: nobody knows what became of ${packet.id}`)
    if (before === true && outcome !== 'received') world.violate(`rail: ${packet.id} was taken, and is ${outcome}`)
    await pause(world, 0)
  }
}
