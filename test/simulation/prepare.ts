import type { MoneyEvent, StoredRecord } from 'open-payments-server'
import type { SigningKey } from 'open-payments-server/testing'
import { lastSegment } from '../support/last-segment.ts'
import { ALICE, BOB, CAROL } from '../support/test-wallet.ts'
import type { Granted } from './grants.ts'
import { type Knowledge, newKnowledge } from './knowledge.ts'
import { CALM, CALM_RAIL } from './shape.ts'
import { createIncoming, getReceivingGrant, getSpendingGrant, SPENDING, type WantedIncoming } from './users.ts'
import { type CreateOpenPayments, createWorld } from './world.ts'

/** What was made before a run begins: grants and incoming payments, with the records that they left. */
export interface Prepared {
  readonly records: readonly StoredRecord[]
  /** What the host has heard of them. */
  readonly heard: readonly MoneyEvent[]
  readonly incomings: Knowledge['incomings']
  readonly spending: readonly Granted[]
  readonly receiving: readonly Granted[]
}

/**
 * Every run begins with these, so they are chosen and not drawn: drawn once, they would decide what all runs can meet.
 * The small ones are soon paid, and cannot take what somebody wants to send; three end within a minute.
 */
const INCOMINGS: readonly WantedIncoming[] = [
  { walletAddress: ALICE },
  { walletAddress: ALICE, value: 400, expiresIn: 75_000 },
  { walletAddress: CAROL, value: 700 },
  { walletAddress: CAROL, value: 150, expiresIn: 90_000 },
  { walletAddress: BOB },
  { walletAddress: BOB, value: 60, expiresIn: 120_000 },
]

/** Asks for grants of every kind and some incoming payments, while nothing goes wrong; the same ones each time. */
export async function prepareRecords(
  createOpenPayments: CreateOpenPayments,
  keys: readonly SigningKey[],
  accessTokenSeconds: number,
): Promise<Prepared> {
  const shape = { ...CALM, rail: CALM_RAIL, settings: { lifetimes: { accessTokenSeconds } } }
  const startsAt = Date.parse('2026-03-01T12:00:00Z')
  const world = createWorld({ seed: 0, shape, createOpenPayments, keys, isTraced: false, startsAt })
  world.start()
  const { clients } = world
  const asked = Promise.all([
    Promise.all(SPENDING.map((wanted, index) => getSpendingGrant(world, wanted, clients[index % clients.length]))),
    Promise.all(clients.map((client) => getReceivingGrant(world, client))),
  ])
  while (await world.scheduler.step());
  const [spending, receiving] = await asked
  const given = <T>(list: readonly (T | undefined)[]): readonly T[] => list.filter((one) => one !== undefined)
  const known = newKnowledge({ spending: [], receiving: given(receiving), incomings: [] })
  for (const wanted of INCOMINGS) {
    const created = createIncoming(world, known, wanted)
    while (await world.scheduler.step());
    await created
  }
  const isGiven = given(spending).length === SPENDING.length && known.incomings.length === INCOMINGS.length
  const heard = known.incomings.flatMap(({ url }) => world.host.heardOf(lastSegment(url)))
  if (world.violations.length > 0 || !isGiven)
    throw new Error(`the simulation could not be prepared: ${world.violations}`)
  const { incomings, receiving: receivers } = known
  return { records: world.storage.dump(), heard, incomings, spending: given(spending), receiving: receivers }
}
