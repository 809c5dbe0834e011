import type { Storage } from 'open-payments-server'
import { memoryStorage } from 'open-payments-server/storage/memory'
import { describe, expect, it } from 'vitest'
import { gate } from '../support/gate.ts'
import { lastSegment } from '../support/last-segment.ts'
import {
  ALICE,
  BASE,
  grantAtOnce,
  grantWithConsent,
  incomingPayment,
  spendingToken,
  type TestWallet,
  testWallet,
  usd,
} from '../support/test-wallet.ts'
import { turns } from '../support/turns.ts'

const DAY = 24 * 3600 * 1000

async function sweepAll(wallet: TestWallet): Promise<void> {
  while ((await wallet.openPayments.sweep()) > 0);
}

describe('a grant over time', () => {
  it('TOK-5 can be rotated as long as it lives, however long its token was not used', async () => {
    const wallet = await testWallet()
    const limits = { debitAmount: usd('500'), interval: 'R/2026-03-01T00:00:00Z/P1M' }
    const access = { type: 'outgoing-payment', actions: ['create', 'read'], identifier: ALICE, limits }
    const granted = await grantWithConsent(wallet, [access])
    wallet.clock.advance(200 * DAY)
    await sweepAll(wallet)
    const { manage, value } = granted.body.access_token
    const rotated = await wallet.send('POST', manage, { token: value })
    expect(rotated.status).toBe(200)
    wallet.clock.advance(DAY)
    await sweepAll(wallet)
    const { payment } = await incomingPayment(wallet)
    const again = await wallet.send('POST', rotated.body.access_token.manage, {
      token: rotated.body.access_token.value,
    })
    const paid = await wallet.send('POST', `${BASE}/outgoing-payments`, {
      token: again.body.access_token.value,
      json: { walletAddress: ALICE, incomingPayment: payment.id, debitAmount: usd('500') },
    })
    expect(paid.status).toBe(201)
  })

  it('is forgotten 30 days after its token expired, where it was given at once', async () => {
    const wallet = await testWallet()
    const granted = await grantAtOnce(wallet, [{ type: 'quote', actions: ['create'] }])
    const id = lastSegment(granted.body.continue.uri)
    const token = granted.body.continue.access_token.value
    const [first] = await wallet.storage.get([{ kind: 'grant', id }])
    expect(first?.value).toMatchObject({ state: 'issued' })
    wallet.clock.advance(29 * DAY)
    await sweepAll(wallet)
    expect(await wallet.storage.get([{ kind: 'grant', id }])).toEqual([first])
    wallet.clock.advance(2 * DAY)
    await sweepAll(wallet)
    expect(await wallet.storage.get([{ kind: 'grant', id }])).toEqual([undefined])
    expect((await wallet.send('DELETE', granted.body.continue.uri, { token })).status).toBe(404)
  })

  it('is kept with the token that it was rotated to, where it was given at once', async () => {
    const wallet = await testWallet()
    const granted = await grantAtOnce(wallet, [{ type: 'quote', actions: ['create'] }])
    let { manage, value } = granted.body.access_token
    for (const days of [29, 29, 29]) {
      wallet.clock.advance(days * DAY)
      await sweepAll(wallet)
      const rotated = await wallet.send('POST', manage, { token: value })
      expect(rotated.status).toBe(200)
      ;({ manage, value } = rotated.body.access_token)
    }
  })

  it('is due no more once its owner has given it', async () => {
    const wallet = await testWallet()
    await spendingToken(wallet)
    expect(await wallet.storage.due('grant', Number.MAX_SAFE_INTEGER, 1)).toEqual([])
  })

  it.each([
    [99_999, 201, undefined],
    [100_000, 401, 'Invalid Token'],
  ])(
    'TOK-4 pays nothing once its token has expired, for a request that came before either: after %i ms %i',
    async (milliseconds, status, description) => {
      const inner = memoryStorage()
      let isSlow = false
      const slow: Storage = {
        ...inner,
        get: async (keys) => {
          if (isSlow && keys.some(({ kind }) => kind === 'incoming-payment')) {
            isSlow = false
            wallet.clock.advance(milliseconds)
          }
          return inner.get(keys)
        },
      }
      const lifetimes = { accessTokenSeconds: 100 }
      const wallet: TestWallet = await testWallet({ storage: slow, settings: { lifetimes } })
      const { payment } = await incomingPayment(wallet)
      const token = await spendingToken(wallet)
      isSlow = true
      const json = { walletAddress: ALICE, incomingPayment: payment.id, debitAmount: usd('100') }
      const answer = await wallet.send('POST', `${BASE}/outgoing-payments`, { token, json })
      expect([answer.status, answer.body.error?.description]).toEqual([status, description])
    },
  )

  it('TOK-9 pays nothing once it is revoked, for a request that still waits its turn either', async () => {
    let pause: Promise<void> | undefined
    const inner = memoryStorage()
    const slow: Storage = {
      ...inner,
      commit: async (changes) => {
        if (changes.some(({ kind }) => kind === 'outgoing-payment')) await pause
        return inner.commit(changes)
      },
    }
    const wallet = await testWallet({ storage: slow })
    const { payment } = await incomingPayment(wallet)
    const token = await spendingToken(wallet)
    const { open: resume, opened } = gate()
    pause = opened
    const pay = async (debit: string): Promise<number> => {
      const json = { walletAddress: ALICE, incomingPayment: payment.id, debitAmount: usd(debit) }
      return (await wallet.send('POST', `${BASE}/outgoing-payments`, { token, json })).status
    }
    const paying = [pay('100'), pay('200'), pay('300')]
    await turns(50)
    const [grant] = await wallet.openPayments.grants.list(ALICE)
    expect(await wallet.openPayments.grants.revoke(ALICE, grant?.id ?? '')).toBe(true)
    resume()
    expect(await Promise.all(paying)).toEqual([401, 401, 401])
    await wallet.openPayments.drain()
    expect(await wallet.ledger.balance('alice')).toMatchObject({ total: 100_000n, held: 0n })
  })
})
