import { systemClock } from 'open-payments-server'
import { describe, expect, it } from 'vitest'
import { answerWithin } from '../../src/deadline/answer-within.ts'
import { holdUp } from '../support/hold-up.ts'
import { turn } from '../support/turns.ts'

describe('a deadline', () => {
  it('is kept by what has arrived while nothing could be heard', async () => {
    // From a callback of this kind the next turn begins with timers, and only then looks for what has arrived.
    await turn()
    const answer = answerWithin(systemClock(), 5, () => new Promise((resolve) => setImmediate(resolve, 'here')))
    for (let step = 0; step < 20; step++) await undefined
    holdUp(20)
    expect(await answer).toBe('here')
  })

  it.each([
    ['is as long as it was meant where the clock is put back while it begins', 200, 200],
    ['that is over before it begins is no pause of less than nothing, which a clock need not know', -200, 0],
  ])('%s', async (_what, milliseconds, pause) => {
    const { sleep } = systemClock()
    const slept: number[] = []
    const times = [10_000, 1000]
    const clock = {
      now: () => times.shift() ?? 1000,
      sleep: (milliseconds: number, signal?: AbortSignal) => {
        slept.push(milliseconds)
        return sleep(0, signal)
      },
    }
    expect(await answerWithin(clock, milliseconds, () => new Promise(() => undefined))).toBe('late')
    expect(slept[0]).toBe(pause)
  })
})
