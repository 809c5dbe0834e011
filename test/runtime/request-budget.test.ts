import { describe, expect, it } from 'vitest'
import { failuresBudget, knownBudget, lookupsBudget, strangersBudget } from '../../src/runtime/request-budget.ts'
import { fakeClock } from '../support/fake-clock.ts'

/** Different addresses, each of a network of its own. */
const addressAt = (number: number): string => `93.${(number >> 16) & 255}.${(number >> 8) & 255}.${number & 255}`

/** How often it is admitted before it is refused. */
function admitted(ask: () => boolean): number {
  let times = 0
  while (times < 5000 && ask()) times++
  return times
}

describe('what is counted for requests of strangers', () => {
  it.each<[string, number, (budget: ReturnType<typeof strangersBudget>, number: number) => boolean]>([
    ['1,000 hosts', 1000, (budget, number) => budget.admitsHost(`host-${number}.example`)],
    ['10,000 addresses', 10_000, (budget, number) => budget.admitsAddresses([addressAt(number)])],
  ])('T-5 is kept for %s, and no more', (_, kept, admits) => {
    const budget = strangersBudget(fakeClock())
    expect(admitted(() => admits(budget, 0))).toBe(100)
    for (let number = 1; number < kept; number++) admits(budget, number)
    expect(admits(budget, 0)).toBe(false)
    admits(budget, kept)
    expect(admits(budget, 0)).toBe(true)
  })
})

it('T-5 the addresses of one network are counted together: who has one of IPv6 has as many as they like', () => {
  let number = 0
  const next = (): readonly string[] => [`2a00:1450::${(++number).toString(16)}`]
  const strangers = strangersBudget(fakeClock())
  expect(admitted(() => strangers.admitsAddresses(next()))).toBe(100)
  const beginFailures = failuresBudget(fakeClock())
  expect(admitted(() => beginFailures().admitsAddresses(next()))).toBe(100)
})

describe('what is counted for requests to hosts that are known', () => {
  it('T-5 is kept for 1,000 hosts, and no more', () => {
    const begin = knownBudget(fakeClock())
    const admits = (number: number): boolean => begin().admitsHost(`host-${number}.example`)
    expect(admitted(() => admits(0))).toBe(2000)
    for (let number = 1; number < 1000; number++) admits(number)
    expect(admits(0)).toBe(false)
    admits(1000)
    expect(admits(0)).toBe(true)
  })

  it('T-5 is taken once from a network that has several of the addresses', () => {
    const begin = knownBudget(fakeClock())
    const addresses = ['2a00:1450::1', '2a00:1450::2', '93.184.216.34']
    expect(admitted(() => begin().admitsAddresses(addresses))).toBe(2000)
  })
})

describe('what is counted for failures', () => {
  it('T-5 is kept for 10,000 hosts and addresses together', () => {
    const begin = failuresBudget(fakeClock())
    expect(admitted(() => begin().admitsHost('host.example'))).toBe(100)
    for (let number = 1; number < 10_000; number++) begin().admitsAddresses([addressAt(number)])
    expect(begin().admitsHost('host.example')).toBe(false)
    begin().admitsAddresses([addressAt(10_000)])
    expect(begin().admitsHost('host.example')).toBe(true)
  })

  it('T-5 is given back for each network once, and not where the budget was spent', () => {
    const begin = failuresBudget(fakeClock())
    const addresses = ['2a00:1450::1', '2a00:1450::2']
    for (let times = 0; times < 99; times++) begin().admitsAddresses(addresses)
    const last = begin()
    expect([last.admitsAddresses(addresses), last.isSpent()]).toEqual([true, false])
    const refused = begin()
    expect([refused.admitsAddresses(addresses), refused.isSpent()]).toEqual([false, true])
    refused.giveBack()
    expect(begin().admitsAddresses(addresses)).toBe(false)
    last.giveBack()
    expect(admitted(() => begin().admitsAddresses(addresses))).toBe(1)
  })
})

describe('who looks up receivers', () => {
  it('T-5 is told the whole seconds to wait, and remembered among 1,000', () => {
    const look = lookupsBudget(fakeClock())
    const waitOf = (number: number): number => look({ client: `https://client-${number}.example/` }, false)
    for (let times = 0; times < 20; times++) expect(waitOf(0)).toBe(0)
    expect(waitOf(0)).toBe(1)
    for (let number = 1; number < 1000; number++) waitOf(number)
    expect(waitOf(0)).toBe(1)
    waitOf(1000)
    expect(waitOf(0)).toBe(0)
  })
})
