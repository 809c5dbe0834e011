import { describe, expect, it } from 'vitest'
import { moveThrough, railAccountId, readRailAccountId } from '../../src/protocol/rail-account.ts'

const account = { id: 'ilp:test.peer', assetCode: 'USD', assetScale: 2, sent: 10n, inFlight: 3n, received: 4n }

describe('an account of a rail', () => {
  it('counts what it has sent and received', () => {
    expect(moveThrough(account, { sent: 3n, inFlight: 2n })).toEqual({ ...account, sent: 13n, inFlight: 5n })
    expect(moveThrough(account, { sent: 0n, inFlight: -3n })).toEqual({ ...account, inFlight: 0n })
    expect(moveThrough(account, { received: 3n })).toEqual({ ...account, received: 7n })
    expect(moveThrough(account, { sent: -3n, inFlight: -3n })).toEqual({ ...account, sent: 7n, inFlight: 0n })
  })

  it.each([
    { sent: -8n, inFlight: 0n },
    { sent: -11n, inFlight: -3n },
    { sent: 0n, inFlight: 8n },
    { sent: 0n, inFlight: -4n },
  ])('has in flight no more than it has sent, and no less than nothing: %o', (moved) => {
    expect(() => moveThrough(account, moved)).toThrow(RangeError)
  })

  it('has a side that is at most so much above the other one', () => {
    expect(moveThrough(account, { sent: 3n, inFlight: 3n }, 9n)).toEqual({ ...account, sent: 13n, inFlight: 6n })
    expect(moveThrough(account, { sent: 4n, inFlight: 4n }, 9n)).toBeUndefined()
    expect(moveThrough(account, { received: 5n }, 2n)).toEqual({ ...account, received: 9n })
    expect(moveThrough(account, { received: 6n }, 2n)).toBeUndefined()
    expect(moveThrough(account, { received: 9n }, -1n)).toBeUndefined()
  })

  it('is within its limit where nothing grows, however low that has become', () => {
    for (const inFlight of [0n, -1n]) {
      const moved = { ...account, sent: 10n + inFlight, inFlight: 3n + inFlight }
      expect(moveThrough(account, { sent: inFlight, inFlight }, 0n)).toEqual(moved)
    }
    expect(moveThrough({ ...account, received: 30n }, { received: 0n }, 0n)).toMatchObject({ received: 30n })
  })

  it('is named by its rail and by what that calls it', () => {
    const id = railAccountId('ilp', 'g.peer:1/USD/2')
    expect(id).toBe('ilp:g.peer:1/USD/2')
    expect(readRailAccountId(id)).toEqual({ method: 'ilp', account: 'g.peer:1/USD/2' })
  })
})
