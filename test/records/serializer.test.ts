import { describe, expect, it } from 'vitest'
import { createSerializer } from '../../src/records/serializer.ts'

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

const settle = (): Promise<void> => new Promise((resolve) => setImmediate(resolve))

describe('createSerializer', () => {
  it('runs tasks of one key one after the other, in order', async () => {
    const log: string[] = []
    const serialize = createSerializer()
    const [a, b] = [heldTask(log, 'a'), heldTask(log, 'b')]
    const both = [serialize('key', a.task), serialize('key', b.task)]
    await settle()
    expect(log).toEqual(['a begins'])
    a.end('resolve')
    await settle()
    expect(log).toEqual(['a begins', 'b begins'])
    b.end('resolve')
    expect(await Promise.all(both)).toEqual(['a', 'b'])
  })

  it('runs tasks of different keys side by side', async () => {
    const log: string[] = []
    const serialize = createSerializer()
    const [a, b] = [heldTask(log, 'a'), heldTask(log, 'b')]
    const both = [serialize('one', a.task), serialize('other', b.task)]
    expect(log).toEqual(['a begins', 'b begins'])
    a.end('resolve')
    b.end('resolve')
    await Promise.all(both)
  })

  it('goes on after a task that failed, and hands the failure to its own caller alone', async () => {
    const log: string[] = []
    const serialize = createSerializer()
    const [a, b] = [heldTask(log, 'a'), heldTask(log, 'b')]
    const first = serialize('key', a.task)
    const second = serialize('key', b.task)
    a.end('reject')
    await expect(first).rejects.toThrow('a')
    b.end('resolve')
    expect(await second).toBe('b')
  })

  it('does not wait for what has ended', async () => {
    const serialize = createSerializer()
    await serialize('key', async () => 1)
    let hasBegun = false
    const run = serialize('key', async () => {
      hasBegun = true
    })
    expect(hasBegun).toBe(true)
    await run
  })

  it('counts the tasks of a key that run or wait', async () => {
    const serialize = createSerializer()
    const [a, b] = [heldTask([], 'a'), heldTask([], 'b')]
    const both = [serialize('key', a.task), serialize('key', b.task)]
    expect([serialize.countOf('key'), serialize.countOf('other')]).toEqual([2, 0])
    a.end('reject')
    await expect(both[0]).rejects.toThrow('a')
    expect(serialize.countOf('key')).toBe(1)
    b.end('resolve')
    await both[1]
    expect(serialize.countOf('key')).toBe(0)
  })
})
