import { describe, expect, it } from 'vitest'
import { recentlyUsed } from '../../src/protocol/recently-used.ts'

const nameAt = (host: string, path = ''): string => `https://${host}.example/${path}`

describe('what is remembered of other servers', () => {
  it('T-5 is bounded: the one unused for longest makes room', () => {
    const names = recentlyUsed<number>()
    const valuesOf = (...hosts: string[]) => hosts.map((host) => names.get(nameAt(host)))
    for (let value = 1; value <= 1000; value++) names.set(nameAt(`n${value}`), value)
    expect(valuesOf('n1')).toEqual([1])
    names.set(nameAt('n2'), 22)
    names.set(nameAt('n1001'), 1001)
    expect(valuesOf('n1', 'n2', 'n3', 'n4', 'n1001')).toEqual([1, 22, undefined, 4, 1001])
    for (let value = 1002; value <= 2001; value++) names.set(nameAt(`n${value}`), value)
    expect(valuesOf('n1', 'n2', 'n1001', 'n1002')).toEqual([undefined, undefined, undefined, 1002])
  })

  it('T-5 a host that has more than its share makes room for its own', () => {
    const names = recentlyUsed<number>()
    const [one, other] = [nameAt('one'), nameAt('other', 'a https://auth.example')]
    names.set(one, 1)
    names.set(other, 2)
    for (let at = 0; at < 2000; at++) names.set(nameAt('greedy', `${at} https://one.example`), at)
    expect([names.get(one), names.get(other)]).toEqual([1, 2])
    const kept = [1001, 1002, 1999].map((at) => names.get(nameAt('greedy', `${at} https://one.example`)))
    expect(kept).toEqual([undefined, 1002, 1999])
  })

  it('T-5 a host has up to a hundred before it has more than its share', () => {
    const names = recentlyUsed<number>()
    for (let host = 0; host < 901; host++) names.set(nameAt(`n${host}`), host)
    for (let at = 1; at <= 100; at++) names.set(nameAt('fair', `${at}`), at)
    expect([names.get(nameAt('n0')), names.get(nameAt('n1')), names.get(nameAt('fair', '1'))]).toEqual([
      undefined,
      1,
      1,
    ])
    names.set(nameAt('fair', '101'), 101)
    expect([names.get(nameAt('n2')), names.get(nameAt('fair', '2'))]).toEqual([2, undefined])
  })

  it('is forgotten when it is told to', () => {
    const names = recentlyUsed<number>()
    names.set(nameAt('a'), 1)
    names.delete(nameAt('a'))
    names.delete(nameAt('b'))
    expect(names.get(nameAt('a'))).toBeUndefined()
  })
})
