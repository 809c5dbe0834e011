import { describe, expect, it } from 'vitest'
import { recentlyUsed } from '../../src/protocol/recently-used.ts'

const nameAt = (host: string, path = ''): string => `https://${host}.example/${path}`

describe('what is remembered of other servers', () => {
  it('T-5 is bounded: the one unused for longest makes room', () => {
    const names = recentlyUsed<number>(3, 1)
    const valuesOf = (...hosts: string[]) => hosts.map((host) => names.get(nameAt(host)))
    for (const value of [1, 2, 3]) names.set(nameAt(`n${value}`), value)
    expect(valuesOf('n1')).toEqual([1])
    names.set(nameAt('n2'), 22)
    names.set(nameAt('n4'), 4)
    expect(valuesOf('n1', 'n2', 'n3', 'n4')).toEqual([1, 22, undefined, 4])
    for (const value of [5, 6, 7]) names.set(nameAt(`n${value}`), value)
    expect(valuesOf('n1', 'n2', 'n4')).toEqual([undefined, undefined, undefined])
  })

  it('T-5 a host that has more than its share makes room for its own', () => {
    const names = recentlyUsed<number>(5, 2)
    const [one, other] = [nameAt('one'), nameAt('other', 'a https://auth.example')]
    names.set(one, 1)
    names.set(other, 2)
    for (let at = 0; at < 1000; at++) names.set(nameAt('greedy', `${at} https://one.example`), at)
    expect([names.get(one), names.get(other)]).toEqual([1, 2])
    expect([996, 997, 998, 999].map((at) => names.get(nameAt('greedy', `${at} https://one.example`)))).toEqual([
      undefined,
      997,
      998,
      999,
    ])
  })

  it('is forgotten when it is told to', () => {
    const names = recentlyUsed<number>(3, 1)
    names.set(nameAt('a'), 1)
    names.delete(nameAt('a'))
    names.delete(nameAt('b'))
    expect(names.get(nameAt('a'))).toBeUndefined()
  })
})
