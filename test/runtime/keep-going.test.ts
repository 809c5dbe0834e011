import { keepGoing } from 'open-payments-server'
import { expect, it } from 'vitest'
import { turn } from '../support/turns.ts'

/** A wallet that counts what it is asked to do; `answers` are what its calls come to, 0 where there is none left. */
function watched(answers: readonly (number | Error)[] = []) {
  const left = [...answers]
  const calls: string[] = []
  const sleeps: { readonly seconds: number; readonly wake: () => void }[] = []
  const clock = {
    now: () => 0,
    sleep: (milliseconds: number, signal?: AbortSignal) =>
      new Promise<void>((resolve) => {
        signal?.addEventListener('abort', () => resolve())
        sleeps.push({ seconds: milliseconds / 1000, wake: resolve })
      }),
  }
  const recover = async (): Promise<number> => {
    calls.push('recover')
    const answer = left.shift() ?? 0
    if (answer instanceof Error) throw answer
    return answer
  }
  const sweep = async (): Promise<number> => {
    calls.push('sweep')
    return 0
  }
  return { recover, sweep, calls, sleeps, clock }
}

it('recovers and sweeps at once, and again after 5 and 60 seconds', async () => {
  const wallet = watched()
  const stop = keepGoing(wallet, wallet.clock)
  await turn()
  expect(wallet.calls).toEqual(['recover', 'sweep'])
  expect(wallet.sleeps.map(({ seconds }) => seconds)).toEqual([5, 60])
  for (const { wake } of [...wallet.sleeps]) wake()
  await turn()
  expect(wallet.calls).toEqual(['recover', 'sweep', 'recover', 'sweep'])
  await stop()
})

it('does not pause while there is more, nor give up where the storage is away', async () => {
  const wallet = watched([100, 100, 3, new Error('the storage is away')])
  const stop = keepGoing(wallet, wallet.clock)
  await turn()
  expect(wallet.calls.filter((call) => call === 'recover')).toHaveLength(3)
  for (let pause = 0; pause < 2; pause++) {
    for (const { wake } of [...wallet.sleeps]) wake()
    await turn()
  }
  expect(wallet.calls.filter((call) => call === 'recover')).toHaveLength(5)
  await stop()
})

it('is stopped in a pause at once, and in a call once that has ended', async () => {
  let end: (count: number) => void = () => undefined
  const wallet = watched()
  const stop = keepGoing(
    {
      ...wallet,
      recover: () =>
        new Promise<number>((resolve) => {
          end = resolve
        }),
    },
    wallet.clock,
  )
  await turn()
  let isStopped = false
  const stopped = stop().then(() => {
    isStopped = true
  })
  await turn()
  expect(isStopped).toBe(false)
  end(100)
  await stopped
  expect(wallet.calls).toEqual(['sweep'])
})

it('pauses after whatever is no number, and after what throws', async () => {
  const wallet = watched()
  let calls = 0
  const strange = {
    recover: () => {
      if (++calls % 2 === 0) throw new Error('this is no promise')
      return JSON.parse('null')
    },
    sweep: async () => JSON.parse('{}'),
  }
  const stop = keepGoing(strange, wallet.clock)
  await turn()
  expect(wallet.sleeps.map(({ seconds }) => seconds)).toEqual([5, 60])
  for (const { wake } of [...wallet.sleeps]) wake()
  await turn()
  expect([calls, wallet.sleeps.length]).toEqual([2, 4])
  await stop()
})

const NO_SERVERS: readonly unknown[] = [undefined, null, {}, { sweep: () => 0 }, { recover: 5, sweep: () => 0 }]

it.each(NO_SERVERS)('refuses %o at once, and says what it takes', (given) => {
  const message = 'keepGoing takes what createOpenPayments returns: it has no recover()'
  expect(() => Reflect.apply(keepGoing, undefined, [given])).toThrow(message)
})

it.each([
  [{ recoverSeconds: 0 }, '.now must be a function'],
  [null, ' must be an object with now(), not null'],
  [{ now: () => 0 }, '.sleep must be a function'],
])('refuses %o for a clock', (clock, mistake) => {
  const message = `keepGoing.clock${mistake}`
  expect(() => Reflect.apply(keepGoing, undefined, [watched(), clock])).toThrow(message)
})

it.each([{ recover: () => 0 }, { recover: () => 0, sweep: 5 }])('refuses %o for what it lacks', (given) => {
  const message = 'keepGoing takes what createOpenPayments returns: it has no sweep()'
  expect(() => Reflect.apply(keepGoing, undefined, [given])).toThrow(message)
})
