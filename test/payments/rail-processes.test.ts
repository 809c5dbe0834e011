import { describe, expect, it } from 'vitest'
import { BASE } from '../support/test-wallet.ts'
import { turns } from '../support/turns.ts'
import { faultAt } from './faulty-ports.ts'
import { ask, recoverUntilQuiet, signedBy } from './money-world.ts'
import { checkRailMoney, onlyPayment, prepareRailPayment, railWorld } from './rail-world.ts'

describe('two processes that deliver one payment at once', () => {
  it('send nothing twice, however they meet', async () => {
    for (let paused = 0; paused < 12; paused++) {
      const world = await railWorld({ incomingValue: 13n })
      const first = world.process()
      faultAt(first.ports, 1, 'crashes after', ({ name }) => name === 'send')
      const { token, body } = await prepareRailPayment(world)
      await Promise.race([
        ask(first, await signedBy(world, 'POST', `${BASE}/outgoing-payments`, token, body)),
        first.ports.crashed,
      ])
      await first.ports.crashed
      world.wallet.clock.advance(30_000)
      const processes = [world.process(), world.process()]
      const pause = async (): Promise<undefined> => {
        await turns(paused)
        return undefined
      }
      if (processes[0]) processes[0].ports.plan = pause
      const recovered = Promise.all(processes.map(({ openPayments }) => openPayments.recover()))
      // The lease of whichever is the slower lapses meanwhile.
      if (paused % 2 === 1) world.wallet.clock.advance(30_000)
      await recovered
      for (const { openPayments } of processes) await openPayments.drain()
      await recoverUntilQuiet(world)
      await checkRailMoney(world)
      expect((await onlyPayment(world)).value.state).toBe('completed')
      expect(world.far.parts.size).toBe(4)
    }
  })
})
