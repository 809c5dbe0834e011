import { describe, expect, it, vi } from 'vitest'
import { type TokenBucketOptions, tokenBuckets } from '../../src/runtime/token-buckets.ts'
import { fakeClock } from '../support/fake-clock.ts'

function buckets(options: Partial<TokenBucketOptions> = {}) {
  const clock = fakeClock()
  const take = tokenBuckets(clock, { capacity: 2, refillMilliseconds: 1000, maximumKeys: 100, ...options })
  return { clock, take }
}

describe('token buckets', () => {
  it('T-37 give what they hold at once, and then no more than flows in', () => {
    const { clock, take } = buckets()
    expect([take('a'), take('a'), take('a'), take('b')]).toEqual([0, 0, 500, 0])
    clock.advance(500)
    expect([take('a'), take('a')]).toEqual([0, 500])
    clock.advance(3_600_000)
    expect([take('a'), take('a'), take('a')]).toEqual([0, 0, 500])
  })

  it.each([1, 3, 7, 11, 999])(
    'T-37 have one after the very time that they named, and none before, with %i an hour',
    (capacity) => {
      const { clock, take } = buckets({ capacity, refillMilliseconds: 3_600_000 })
      for (let taken = 0; taken < capacity; taken++) expect(take('a')).toBe(0)
      for (let round = 0; round < 50; round++) {
        clock.advance(take('a') - 1)
        expect(take('a')).toBe(1)
        clock.advance(1)
        expect(take('a')).toBe(0)
      }
    },
  )

  it('T-37 take one from each key, or none from any', () => {
    const { take } = buckets()
    expect([take('a', 'shared'), take('b', 'shared')]).toEqual([0, 0])
    expect([take('a', 'shared'), take('b', 'shared')]).toEqual([500, 500])
    expect([take('a'), take('a')]).toEqual([0, 500])
  })

  it('T-5 have again what is given back, no more than they hold, and nothing where they are forgotten', () => {
    const { take } = buckets({ maximumKeys: 2 })
    expect([take('a', 'b'), take('a', 'b'), take('a')]).toEqual([0, 0, 500])
    take.giveBack('a', 'stranger')
    expect([take('a', 'b'), take('a'), take('a')]).toEqual([500, 0, 500])
    for (let times = 0; times < 5; times++) take.giveBack('a')
    expect([take('a'), take('a'), take('a')]).toEqual([0, 0, 500])
    // The stranger is not remembered, so it has pushed nobody out.
    expect(take('b')).toBe(500)
  })

  it('T-37 neither fill nor stay shut where the clock steps back', () => {
    const { clock, take } = buckets()
    expect([take('a'), take('a')]).toEqual([0, 0])
    clock.advance(-3_600_000)
    expect(take('a')).toBe(500)
    clock.advance(500)
    expect([take('a'), take('a')]).toEqual([0, 500])
  })

  it('T-37 look for the key to forget only if there are too many', () => {
    const { take } = buckets({ maximumKeys: 2 })
    const keys = vi.spyOn(Map.prototype, 'keys')
    try {
      expect([take('a'), take('b'), take('a')]).toEqual([0, 0, 0])
      expect(keys).not.toHaveBeenCalled()
      expect(take('c')).toBe(0)
      expect(keys).toHaveBeenCalledOnce()
    } finally {
      keys.mockRestore()
    }
  })

  it('T-37 forget the key that was granted a token longest ago; a refusal remembers and refreshes nobody', () => {
    const { take } = buckets({ maximumKeys: 2 })
    const empty = (key: string): void => {
      take(key)
      take(key)
    }
    empty('a')
    empty('b')
    expect(take('stranger', 'b')).toBe(500)
    expect([take('b'), take('a')]).toEqual([500, 500])
    expect(take('c')).toBe(0)
    expect(take('b')).toBe(500)
    expect(take('a')).toBe(0)
  })

  it('T-37 remember a key for longer once it is granted another token', () => {
    const { take } = buckets({ maximumKeys: 2 })
    expect([take('a'), take('b'), take('a'), take('c')]).toEqual([0, 0, 0, 0])
    expect(take('a')).toBe(500)
  })
})
