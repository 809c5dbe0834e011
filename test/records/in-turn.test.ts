import { describe, expect, it } from 'vitest'
import { createTurns } from '../../src/records/in-turn.ts'
import { turn } from '../support/turns.ts'

/** A task that runs until it is told to end. */
function heldTask(log: string[], name: string) {
  let end: (outcome: 'resolve' | 'reject') => void = () => undefined
  const ended = new Promise<string>((resolve, reject) => {
    end = (outcome) => (outcome === 'resolve' ? resolve(name) : reject(new Error(name)))
  })
  const task = async (): Promise<string> => {
    log.push(`${name} begins`)
    return ended
  }
  return { task, end }
}

describe('createTurns', () => {
  it('runs tasks of one key one after the other, in order', async () => {
    const log: string[] = []
    const inTurn = createTurns()
    const [a, b] = [heldTask(log, 'a'), heldTask(log, 'b')]
    const both = [inTurn('key', a.task), inTurn('key', b.task)]
    await turn()
    expect(log).toEqual(['a begins'])
    a.end('resolve')
    await turn()
    expect(log).toEqual(['a begins', 'b begins'])
    b.end('resolve')
    expect(await Promise.all(both)).toEqual(['a', 'b'])
  })

  it('runs those that go first before all others that wait, in their order', async () => {
    const log: string[] = []
    const inTurn = createTurns()
    const running = heldTask(log, 'running')
    const runs = [inTurn('key', running.task)]
    for (const [name, place] of [
      ['a', 'last'],
      ['b', 'first'],
      ['c', 'first'],
      ['d', undefined],
    ] as const)
      runs.push(inTurn('key', async () => `${log.push(name)}`, place))
    expect(inTurn.countOf('key')).toBe(5)
    running.end('resolve')
    await Promise.all(runs)
    expect(log).toEqual(['running begins', 'b', 'c', 'a', 'd'])
    expect(inTurn.countOf('key')).toBe(0)
  })

  it('goes on after a task that throws at once', async () => {
    const inTurn = createTurns()
    const throwing = (): Promise<never> => {
      throw new Error('at once')
    }
    const runs = [inTurn('key', throwing), inTurn('key', throwing), inTurn('key', async () => 'done')]
    const outcomes = await Promise.allSettled(runs)
    expect(outcomes.map(({ status }) => status)).toEqual(['rejected', 'rejected', 'fulfilled'])
    expect(inTurn.countOf('key')).toBe(0)
  })

  it('runs tasks of different keys side by side', async () => {
    const log: string[] = []
    const inTurn = createTurns()
    const [a, b] = [heldTask(log, 'a'), heldTask(log, 'b')]
    const both = [inTurn('one', a.task), inTurn('other', b.task)]
    expect(log).toEqual(['a begins', 'b begins'])
    a.end('resolve')
    b.end('resolve')
    await Promise.all(both)
  })

  it('goes on after a task that failed, and hands the failure to its own caller alone', async () => {
    const log: string[] = []
    const inTurn = createTurns()
    const [a, b] = [heldTask(log, 'a'), heldTask(log, 'b')]
    const first = inTurn('key', a.task)
    const second = inTurn('key', b.task)
    a.end('reject')
    await expect(first).rejects.toThrow('a')
    b.end('resolve')
    expect(await second).toBe('b')
  })

  it('does not wait for what has ended', async () => {
    const inTurn = createTurns()
    await inTurn('key', async () => 1)
    let hasBegun = false
    const run = inTurn('key', async () => {
      hasBegun = true
    })
    expect(hasBegun).toBe(true)
    await run
  })

  it('counts the tasks of a key that run or wait', async () => {
    const inTurn = createTurns()
    const [a, b] = [heldTask([], 'a'), heldTask([], 'b')]
    const both = [inTurn('key', a.task), inTurn('key', b.task)]
    expect([inTurn.countOf('key'), inTurn.countOf('other')]).toEqual([2, 0])
    a.end('reject')
    await expect(both[0]).rejects.toThrow('a')
    expect(inTurn.countOf('key')).toBe(1)
    b.end('resolve')
    await both[1]
    expect(inTurn.countOf('key')).toBe(0)
  })

  it('tells whether a turn of a key has ended since, or runs', async () => {
    const inTurn = createTurns()
    const [one, other] = ['incoming:00a', 'incoming:00b']
    const before = inTurn.endedTurns()
    const [a, b] = [heldTask([], 'a'), heldTask([], 'b')]
    const both = [inTurn(one, a.task), inTurn(one, b.task)]
    expect([inTurn.isQuietSince(one, before), inTurn.isQuietSince(other, before)]).toEqual([false, true])
    a.end('reject')
    await expect(both[0]).rejects.toThrow('a')
    const between = inTurn.endedTurns()
    b.end('resolve')
    await both[1]
    expect([before, between].map((ended) => inTurn.isQuietSince(one, ended))).toEqual([false, false])
    expect([inTurn.isQuietSince(one, inTurn.endedTurns()), inTurn.isQuietSince(other, before)]).toEqual([true, true])
  })

  it('knows when the turns of 4096 keys have ended, and takes what it has forgotten for an end since', async () => {
    const inTurn = createTurns()
    const isQuiet = (key: string, ended: number): boolean => inTurn.isQuietSince(key, ended)
    for (let key = 0; key < 4096; key++) await inTurn(`key ${key}`, async () => key)
    await inTurn('key 0', async () => 'again')
    for (let key = 4096; key < 4096 + 4094; key++) await inTurn(`key ${key}`, async () => key)
    expect([isQuiet('key 1', 2), isQuiet('key 1', 1), isQuiet('another key', 0)]).toEqual([true, false, true])
    await inTurn('one key more', async () => 'first')
    expect([isQuiet('key 1', 4096), isQuiet('key 1', 4095), isQuiet('another key', 4095)]).toEqual([true, false, false])
    expect([isQuiet('key 0', 4097), isQuiet('key 0', 4096)]).toEqual([true, false])
    expect([isQuiet('key 5000', 5002), isQuiet('key 5000', 5001)]).toEqual([true, false])
  })
})
