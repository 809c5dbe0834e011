import { expect, it } from 'vitest'
import { eventsOf, grantTokens, moneyWorld, preparePayment } from '../payments/money-world.ts'
import { BASE, BOB } from '../support/test-wallet.ts'

it('GRT-15 ids of new records begin with the time of their creation, and differ in 128 bits', async () => {
  const world = await moneyWorld()
  const rounds = 4
  for (let round = 0; round < rounds; round++) {
    await preparePayment(world, await grantTokens(world))
    world.wallet.clock.advance(1)
  }
  const idsOf = async (kind: 'grant' | 'incoming-payment' | 'quote') =>
    (await world.storage.all(kind)).map(({ value: { id, createdAt } }) => [id, createdAt] as const)
  const tokens = (await world.storage.all('access-token')).map(({ value }) => value)
  const made = [
    await idsOf('grant'),
    await idsOf('incoming-payment'),
    await idsOf('quote'),
    tokens.map(({ id, issuedAt }) => [id, issuedAt] as const),
    tokens.map(({ manageId, issuedAt }) => [manageId, issuedAt] as const),
  ]
  for (const ids of made) {
    expect(ids.length).toBeGreaterThanOrEqual(rounds)
    for (const [id, time] of ids) expect(Number.parseInt(id.slice(0, 12), 16)).toBe(time)
    expect(new Set(ids.map(([id]) => id.slice(12))).size).toBe(ids.length)
  }
})

it('GRT-15 a clock before 1970 makes no record, which nobody could find again', async () => {
  const world = await moneyWorld()
  const { receiving: token } = await grantTokens(world)
  world.wallet.clock.advance(-world.wallet.clock.now() - 5)
  const before = await world.storage.all('incoming-payment')
  const json = { walletAddress: BOB }
  const answer = await world.wallet.send('POST', `${BASE}/incoming-payments`, { token, json })
  expect(answer.status).toBe(500)
  expect(eventsOf(world, 'fault').map(({ message }) => message)).toEqual(['no id can begin with the time -5'])
  expect(await world.storage.all('incoming-payment')).toEqual(before)
})
