import { expect } from 'vitest'
import type { HttpRequest } from '../../src/ports/http-exchange.ts'
import { keyed } from '../support/keyed.ts'
import { ALICE, BASE, spendingToken, usd } from '../support/test-wallet.ts'
import { answered, createdBy, holdUp, reading, scene } from './joint-world.ts'
import { ask, type Process, signedBy } from './money-world.ts'

/** A receiver that is still open when the key is free again. */
export const WEEK = { settings: { lifetimes: { incomingPaymentSeconds: 7 * 24 * 3600 } } }

/** Gives an order, and holds up the commit that creates its payment. */
export const holdUpCommit = (process: Process, order: HttpRequest) =>
  holdUp(
    process,
    (call) => createdBy(call) > 0,
    () => ask(process, order),
  )

/** Gives an order to a process that ends before it asks for the hold. */
export async function endBeforeHold(process: Process, order: HttpRequest): Promise<void> {
  process.ports.plan = ({ name }) => (name === 'hold' ? 'crashes before' : undefined)
  expect(await ask(process, order)).toBeUndefined()
}

/** A process that has charged the grant before, and orders under a key. */
export async function keyedScene(...given: Parameters<typeof scene>) {
  const found = await scene(...given)
  const { world, tokens, incomingUrl, process, order } = found
  const first = await answered(process, await order('1'))
  expect(first.status).toBe(201)
  const named = { walletAddress: ALICE, incomingPayment: incomingUrl, debitAmount: usd('60') }
  const keyedOrder = (json: object = named, token = tokens.spending) => {
    // Signed anew each time: the identical request would be a replay.
    world.wallet.clock.advance(1000)
    return signedBy(world, 'POST', `${BASE}/outgoing-payments`, token, json, keyed('a-key'))
  }
  return { ...found, named, keyedOrder, reads: reading(process) }
}

/** The same, with a receiver that outlives the key, an order for it, and a second grant of the same client. */
export async function twoGrants() {
  const found = await keyedScene(WEEK)
  const otherGrant = await spendingToken(found.world.wallet, { debitAmount: usd('100') })
  return { ...found, otherGrant, order: { ...found.named, debitAmount: usd('2') } }
}
