import type { Approver } from 'open-payments-server'
import { memoryStorage } from 'open-payments-server/storage/memory'
import { describe, expect, it } from 'vitest'
import { type AuthWallet, authWallet, POLLING_REQUEST, resume } from '../auth-server/auth-wallet.ts'
import { ALICE, type Answer, decideAs, OWNER, referenceOf } from '../support/test-wallet.ts'

async function stateOf(wallet: AuthWallet): Promise<unknown> {
  const record = (await wallet.records()).find(({ kind }) => kind === 'interaction')
  return record && 'state' in record.value ? record.value.state : undefined
}

async function reasonOf(wallet: AuthWallet, pending: Answer): Promise<unknown> {
  const found = await wallet.openPayments.interactions.find(referenceOf(pending), OWNER)
  return found.ok ? undefined : found.reason
}

describe('the end of an interaction', () => {
  it.each([
    ['approve', 'approved'],
    ['deny', 'denied'],
  ] as const)('INT-3 after %s is %s, and says that it was used for as long as it is known', async (decision, state) => {
    const wallet = await authWallet()
    const pending = await wallet.ask(POLLING_REQUEST)
    expect(await stateOf(wallet)).toBe('created')
    expect(await reasonOf(wallet, pending)).toBeUndefined()
    expect(await stateOf(wallet)).toBe('opened')
    await decideAs(wallet, pending, decision)
    expect(await stateOf(wallet)).toBe(state)
    wallet.clock.advance(600_000)
    await wallet.openPayments.sweep()
    expect(await reasonOf(wallet, pending)).toBe('used')
  })

  it.each(['approve', 'deny'] as const)('T-37 after %s is forgotten a day after its deadline', async (decision) => {
    const wallet = await authWallet()
    const pending = await wallet.ask(POLLING_REQUEST)
    await decideAs(wallet, pending, decision)
    wallet.clock.advance(600_000 + 24 * 3600 * 1000 - 1)
    await wallet.openPayments.sweep()
    expect(await reasonOf(wallet, pending)).toBe('used')
    wallet.clock.advance(1)
    await wallet.openPayments.sweep()
    expect(await stateOf(wallet)).toBeUndefined()
    expect(await reasonOf(wallet, pending)).toBe('unknown')
  })

  it('INT-3 says that it was used, too, where the owner has revoked since', async () => {
    const wallet = await authWallet()
    const pending = await wallet.ask(POLLING_REQUEST)
    await decideAs(wallet, pending)
    wallet.clock.advance(5_000)
    expect((await resume(wallet, pending)).status).toBe(200)
    const [grant] = await wallet.openPayments.grants.list(ALICE)
    expect(await wallet.openPayments.grants.revoke(ALICE, grant?.id ?? '')).toBe(true)
    expect(await reasonOf(wallet, pending)).toBe('used')
  })

  it.each(['approve', 'deny'] as const)(
    'INT-5 has no redirect after %s where the client asked for none',
    async (decision) => {
      const wallet = await authWallet()
      const pending = await wallet.ask(POLLING_REQUEST)
      const { interactions } = wallet.openPayments
      const found = await interactions.find(referenceOf(pending), OWNER)
      if (!found.ok) throw new Error(found.reason)
      const decider: Approver = { ...OWNER, csrf: found.csrf, access: 'all' }
      expect(await interactions[decision](referenceOf(pending), decider)).toStrictEqual({ ok: true })
    },
  )

  it('INT-4 is unknown where its grant is', async () => {
    const inner = memoryStorage()
    let isForgotten = false
    const wallet = await authWallet({
      storage: {
        ...inner,
        get: async (keys) =>
          isForgotten && keys.some(({ kind }) => kind === 'grant') ? keys.map(() => undefined) : inner.get(keys),
      },
    })
    const pending = await wallet.ask(POLLING_REQUEST)
    isForgotten = true
    expect(await reasonOf(wallet, pending)).toBe('unknown')
  })

  it('INT-10 an empty session is a mistake of the wallet, and named', async () => {
    const wallet = await authWallet()
    const pending = await wallet.ask(POLLING_REQUEST)
    const asking = wallet.openPayments.interactions.find(referenceOf(pending), { ...OWNER, session: '' })
    await expect(asking).rejects.toThrow('the session of a person must be a non-empty string')
  })
})
