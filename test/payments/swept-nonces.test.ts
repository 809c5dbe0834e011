import { describe, expect, it } from 'vitest'
import { BASE, BOB } from '../support/test-wallet.ts'
import type { Call } from './faulty-ports.ts'
import { answered, changesOf, holdUp, isCommit } from './joint-world.ts'
import { grantTokens, HOUR, moneyWorld, type Process, signedBy } from './money-world.ts'

const CLAIM = 'replay-claim'
const LIST = `${BASE}/incoming-payments?wallet-address=${encodeURIComponent(BOB)}`

const deletesClaims = (call: Call): boolean =>
  isCommit(call) && changesOf(call).some(({ action, kind }) => action === 'delete' && kind === CLAIM)

/** A process that is asked for the same list with one nonce or another, signed anew each time. */
async function nonceScene() {
  const world = await moneyWorld()
  const { receiving } = await grantTokens(world)
  const sign = (nonce: string) => signedBy(world, 'GET', LIST, receiving, undefined, { nonce })
  const statusOf = async (process: Process, nonce: string) => (await answered(process, await sign(nonce))).status
  return { world, process: world.start(), statusOf }
}

describe('a nonce that comes back after its claim was swept', () => {
  it('SIG-23 is refused the next time, though another sweep has just read the claim that is gone', async () => {
    const { world, process, statusOf } = await nonceScene()
    expect(await statusOf(process, 'a')).toBe(200)
    world.wallet.clock.advance(HOUR)
    const slow = world.start()
    const { held, letGo } = await holdUp(slow, deletesClaims, () => slow.openPayments.sweep())
    await process.openPayments.sweep()
    expect(await world.storage.all(CLAIM)).toEqual([])
    const times = [await statusOf(process, 'a')]
    letGo()
    await held
    times.push(await statusOf(process, 'a'))
    expect(times).toEqual([200, 401])
  })

  it('SIG-23 is refused the next time, though the sweep got no answer, and then deletes each claim alone', async () => {
    const { world, process, statusOf } = await nonceScene()
    for (const nonce of ['a', 'b']) expect(await statusOf(process, nonce)).toBe(200)
    world.wallet.clock.advance(HOUR)
    const sweeping = world.start()
    const times: number[] = []
    let deletions = 0
    sweeping.ports.plan = async (call) => {
      if (!deletesClaims(call)) return undefined
      if (++deletions === 1) return 'loses the reply'
      if (deletions === 2) for (const nonce of ['a', 'b']) times.push(await statusOf(process, nonce))
      return undefined
    }
    await sweeping.openPayments.sweep()
    expect(deletions).toBe(3)
    for (const nonce of ['a', 'b']) times.push(await statusOf(process, nonce))
    expect(times).toEqual([200, 200, 401, 401])
  })
})
