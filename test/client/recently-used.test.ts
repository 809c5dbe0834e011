import { describe, expect, it } from 'vitest'
import { recentlyUsed } from '../../src/client/recently-used.ts'

describe('what is remembered of other servers', () => {
  it('T-5 is bounded: the one unused for longest makes room', () => {
    const names = recentlyUsed<number>(3)
    for (const value of [1, 2, 3]) names.set(`n${value}`, value)
    expect(names.get('n1')).toBe(1)
    names.set('n2', 22)
    names.set('n4', 4)
    expect(['n1', 'n2', 'n3', 'n4'].map((name) => names.get(name))).toEqual([1, 22, undefined, 4])
    names.set('n5', 5)
    names.set('n6', 6)
    names.set('n7', 7)
    expect(['n1', 'n2', 'n4'].map((name) => names.get(name))).toEqual([undefined, undefined, undefined])
  })

  it('is forgotten when it is told to', () => {
    const names = recentlyUsed<number>(3)
    names.set('a', 1)
    names.delete('a')
    names.delete('b')
    expect(names.get('a')).toBeUndefined()
  })
})
