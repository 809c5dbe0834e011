import type { Change, DecidedInteraction, Storage } from 'open-payments-server'
import { memoryStorage } from 'open-payments-server/storage/memory'
import { describe, expect, it } from 'vitest'
import { recordsOfKind } from '../../src/records/read-record.ts'
import { inEveryOrder, type Race } from '../support/every-order.ts'
import { type Answer, OWNER, referenceOf } from '../support/test-wallet.ts'
import {
  type ApprovedGrant,
  type AuthWallet,
  approvedGrant,
  authWallet,
  CONSENT_REQUEST,
  cancel,
  PLAIN_REQUEST,
  resume,
  revoke,
  rotate,
  unchecked,
} from './auth-wallet.ts'

/**
 * Prepares a wallet once, and plays a race in it in every order, each time from the records that the preparation left;
 * answers how many orders there were.
 */
async function always<T>(
  prepare: (wallet: AuthWallet) => Promise<T>,
  play: (wallet: AuthWallet, prepared: T, race: Race) => Promise<void>,
): Promise<number> {
  let store: Storage = memoryStorage()
  const wallet = unchecked(
    await authWallet({
      storage: {
        get: (keys) => store.get(keys),
        list: (query) => store.list(query),
        due: (...query) => store.due(...query),
        commit: (changes) => store.commit(changes),
      },
    }),
  )
  const prepared = await prepare(wallet)
  const records = await wallet.records()
  const inserts: readonly Change[] = [
    ...recordsOfKind(records, 'grant').map((record) => ({ ...record, action: 'insert' as const })),
    ...recordsOfKind(records, 'interaction').map((record) => ({ ...record, action: 'insert' as const })),
    ...recordsOfKind(records, 'access-token').map((record) => ({ ...record, action: 'insert' as const })),
  ]
  expect(inserts).toHaveLength(records.length)
  return inEveryOrder(async (race) => {
    store = race.storage
    await store.commit(inserts)
    await play(wallet, prepared, race)
  })
}

async function tokens(wallet: AuthWallet, state: string): Promise<number> {
  return recordsOfKind(await wallet.records(), 'access-token').filter(({ value }) => value.state === state).length
}

type Decide = (decision: 'approve' | 'deny') => Promise<DecidedInteraction>

const askPlain = (wallet: AuthWallet): Promise<Answer> => wallet.ask(PLAIN_REQUEST)

const continued = (wallet: AuthWallet, { pending, interactRef }: ApprovedGrant): Promise<Answer> =>
  resume(wallet, pending, { interact_ref: interactRef })

describe('in every order of their storage operations', () => {
  it('T-29 CON-4 two continuations give one token', async () => {
    const orders = await always(approvedGrant, async (wallet, approved, race) => {
      const act = (): Promise<Answer> => continued(wallet, approved)
      const answers = await race.atOnce(act, act)
      expect(answers.map(({ status }) => status)).toEqual([200, 200])
      expect(new Set(answers.map(({ body }) => body.access_token.value)).size).toBe(1)
      expect(await tokens(wallet, 'active')).toBe(1)
    })
    expect(orders).toBeGreaterThanOrEqual(6)
  })

  it('T-29 TOK-7 two rotations give one token', async () => {
    const orders = await always(askPlain, async (wallet, grant, race) => {
      const act = (): Promise<Answer> => rotate(wallet, grant)
      const answers = await race.atOnce(act, act)
      expect(answers.map(({ status }) => status)).toEqual([200, 200])
      expect(new Set(answers.map(({ body }) => body.access_token.value)).size).toBe(1)
      expect([await tokens(wallet, 'active'), await tokens(wallet, 'rotated')]).toEqual([1, 1])
    })
    expect(orders).toBeGreaterThanOrEqual(20)
  })

  it('T-29 CON-8 no token outlives a continuation and a cancellation', async () => {
    const orders = await always(approvedGrant, async (wallet, approved, race) => {
      const [issued, cancelled] = await race.atOnce(
        () => continued(wallet, approved),
        () => cancel(wallet, approved.pending),
      )
      expect(cancelled?.status).toBe(204)
      expect([200, 404]).toContain(issued?.status)
      expect(await tokens(wallet, 'active')).toBe(0)
    })
    expect(orders).toBeGreaterThanOrEqual(6)
  })

  it('T-29 CON-8 TOK-6 no token outlives a rotation and a cancellation', async () => {
    const orders = await always(askPlain, async (wallet, grant, race) => {
      const [rotated, cancelled] = await race.atOnce(
        () => rotate(wallet, grant),
        () => cancel(wallet, grant),
      )
      expect(cancelled?.status).toBe(204)
      expect([200, 404]).toContain(rotated?.status)
      expect(await tokens(wallet, 'active')).toBe(0)
    })
    expect(orders).toBeGreaterThanOrEqual(20)
  })

  it('T-29 TOK-9 no token outlives a rotation and a revocation', async () => {
    const orders = await always(askPlain, async (wallet, grant, race) => {
      const [rotated, revoked] = await race.atOnce(
        () => rotate(wallet, grant),
        () => revoke(wallet, grant),
      )
      expect(revoked?.status).toBe(204)
      expect([200, 404]).toContain(rotated?.status)
      expect(await tokens(wallet, 'active')).toBe(0)
    })
    expect(orders).toBeGreaterThanOrEqual(10)
  })

  async function opened(wallet: AuthWallet): Promise<{ readonly pending: Answer; readonly decide: Decide }> {
    const pending = await wallet.ask(CONSENT_REQUEST)
    const { interactions } = wallet.openPayments
    const found = await interactions.find(referenceOf(pending), OWNER)
    if (!found.ok) throw new Error(found.reason)
    const decide: Decide = (decision) =>
      interactions[decision](referenceOf(pending), { ...OWNER, csrf: found.csrf, access: 'all' })
    return { pending, decide }
  }

  it('T-29 INT-3 of an approval and a denial one counts', async () => {
    const orders = await always(opened, async (_wallet, { decide }, race) => {
      const decided = await race.atOnce(
        () => decide('approve'),
        () => decide('deny'),
      )
      expect(decided.filter(({ ok }) => ok)).toHaveLength(1)
      expect(decided).toContainEqual({ ok: false, reason: 'used' })
    })
    expect(orders).toBeGreaterThanOrEqual(20)
  })

  it('T-29 INT-4 of an approval and a cancellation the cancellation stays', async () => {
    const orders = await always(opened, async (wallet, { pending, decide }, race) => {
      const [, cancelled] = await race.atOnce<unknown>(
        () => decide('approve'),
        () => cancel(wallet, pending),
      )
      expect(cancelled).toMatchObject({ status: 204 })
      const grant = (await wallet.records()).find(({ kind }) => kind === 'grant')
      expect(grant?.value).toMatchObject({ state: 'finalised', finalisation: 'revoked' })
    })
    expect(orders).toBeGreaterThanOrEqual(10)
  })

  it('T-29 that is each of them, and each once', async () => {
    const seen = new Set<string>()
    const orders = await inEveryOrder(async ({ storage, atOnce }) => {
      let order = ''
      const act = (name: string) => async (): Promise<void> => {
        for (let left = 3; left > 0; left--) {
          await storage.get([])
          order += name
        }
      }
      await atOnce(act('a'), act('b'))
      seen.add(order)
    })
    // 6! / (3! 3!)
    expect([orders, seen.size]).toEqual([20, 20])
  })
})
