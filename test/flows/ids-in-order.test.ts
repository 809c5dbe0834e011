import type { RecordKind } from 'open-payments-server'
import { expect, it } from 'vitest'
import { grantTokens, moneyWorld, preparePayment } from '../payments/money-world.ts'

const KINDS: readonly RecordKind[] = ['grant', 'access-token', 'incoming-payment', 'quote']

it('GRT-15 ids of new records follow those of earlier ones, and differ in 128 bits', async () => {
  const world = await moneyWorld()
  const seen = new Map<RecordKind, readonly string[]>()
  for (let round = 0; round < 4; round++) {
    await preparePayment(world, await grantTokens(world))
    for (const kind of KINDS) {
      const before = seen.get(kind) ?? []
      const ids = (await world.storage.all(kind)).map(({ value }) => value.id)
      const created = ids.filter((id) => !before.includes(id)).toSorted()
      expect([kind, created.length > 0, [...before, ...created].toSorted()]).toEqual([
        kind,
        true,
        [...before, ...created],
      ])
      seen.set(kind, [...before, ...created])
    }
    world.wallet.clock.advance(1)
  }
  for (const ids of seen.values()) expect(new Set(ids.map((id) => id.slice(12))).size).toBe(ids.length)
})
