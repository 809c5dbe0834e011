import { describe, expect, it } from 'vitest'
import { moveThrough, railAccountId, readRailAccountId } from '../../src/protocol/rail-account.ts'

const account = { id: 'ilp:test.peer', assetCode: 'USD', assetScale: 2, sent: 10n, received: 4n }

describe('an account of a rail', () => {
  it('counts what it has sent and received', () => {
    expect(moveThrough(account, { sent: 3n })).toEqual({ ...account, sent: 13n })
    expect(moveThrough(account, { received: 3n })).toEqual({ ...account, received: 7n })
    expect(moveThrough(account, { sent: -10n })).toEqual({ ...account, sent: 0n })
    expect(() => moveThrough(account, { sent: -11n })).toThrow(RangeError)
  })

  it('has a side that is at most so much above the other one', () => {
    expect(moveThrough(account, { sent: 3n }, 9n)).toEqual({ ...account, sent: 13n })
    expect(moveThrough(account, { sent: 4n }, 9n)).toBeUndefined()
    expect(moveThrough(account, { received: 8n }, 2n)).toEqual({ ...account, received: 12n })
    expect(moveThrough(account, { received: 9n }, 2n)).toBeUndefined()
    expect(moveThrough(account, { received: 9n }, -1n)).toBeUndefined()
  })

  it('is within its limit where nothing grows, however low that has become', () => {
    for (const sent of [0n, -1n]) expect(moveThrough(account, { sent }, 0n)).toEqual({ ...account, sent: 10n + sent })
    expect(moveThrough({ ...account, received: 30n }, { received: 0n }, 0n)).toMatchObject({ received: 30n })
  })

  it('is named by its rail and by what that calls it', () => {
    const id = railAccountId('ilp', 'g.peer:1/USD/2')
    expect(id).toBe('ilp:g.peer:1/USD/2')
    expect(readRailAccountId(id)).toEqual({ method: 'ilp', account: 'g.peer:1/USD/2' })
  })
})
