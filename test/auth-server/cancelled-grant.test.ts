import { memoryStorage } from 'open-payments-server/storage/memory'
import { describe, expect, it } from 'vitest'
import { lastSegment } from '../support/last-segment.ts'
import { ALICE, decideAs } from '../support/test-wallet.ts'
import {
  approvedGrant,
  authWallet,
  CONSENT_REQUEST,
  cancel,
  PLAIN_REQUEST,
  POLLING_REQUEST,
  resume,
  revoke,
  rotate,
  tokenStatus,
} from './auth-wallet.ts'

describe('cancelling a grant', () => {
  it('CON-8 ends it and its token in one step, and again is fine', async () => {
    const wallet = await authWallet()
    const grant = await wallet.ask(PLAIN_REQUEST)
    const cancelled = await cancel(wallet, grant)
    expect([cancelled.status, cancelled.text]).toEqual([204, undefined])
    expect(await tokenStatus(wallet, grant.body.access_token.value)).toBe(401)
    await wallet.expectRefusal(404, 'invalid_rotation', () => rotate(wallet, grant))
    const before = await wallet.records()
    expect((await cancel(wallet, grant)).status).toBe(204)
    expect((await revoke(wallet, grant)).status).toBe(204)
    expect(await wallet.records()).toEqual(before)
  })

  it('CON-5 CON-8 a repeat that came before its end, and is decided after it, confirms no subject', async () => {
    const base = memoryStorage()
    let afterRead = async (): Promise<void> => undefined
    const wallet = await authWallet({
      storage: {
        ...base,
        async get(keys) {
          const found = await base.get(keys)
          const then = afterRead
          if (keys.some(({ kind }) => kind === 'grant')) {
            afterRead = async () => undefined
            await then()
          }
          return found
        },
      },
    })
    const subject = { sub_ids: [{ id: ALICE, format: 'uri' }] }
    const { interact, client } = CONSENT_REQUEST
    const { pending, interactRef } = await approvedGrant(wallet, { interact, client, subject })
    const repeat = () => resume(wallet, pending, { interact_ref: interactRef })
    expect((await repeat()).body.subject).toEqual(subject)
    expect((await repeat()).body.subject).toEqual(subject)
    // While the client's keys are fetched, for instance.
    afterRead = async () => {
      expect(await wallet.openPayments.grants.revoke(ALICE, lastSegment(pending.body.continue.uri))).toBe(true)
    }
    const late = await repeat()
    expect([late.status, late.body.error?.code]).toEqual([404, 'invalid_continuation'])
  })

  it('CON-8 ends the token that a rotation gave, too', async () => {
    const wallet = await authWallet()
    const grant = await wallet.ask(PLAIN_REQUEST)
    const rotated = await rotate(wallet, grant)
    expect((await cancel(wallet, grant)).status).toBe(204)
    expect(await tokenStatus(wallet, rotated.body.access_token.value)).toBe(401)
    await wallet.expectRefusal(404, 'invalid_rotation', () => rotate(wallet, rotated))
    await wallet.expectRefusal(404, 'invalid_rotation', () => rotate(wallet, grant))
  })

  it('CON-8 INT-4 ends a grant that waits: nobody can approve or continue it', async () => {
    const wallet = await authWallet()
    const pending = await wallet.ask(CONSENT_REQUEST)
    expect((await cancel(wallet, pending)).status).toBe(204)
    await expect(decideAs(wallet, pending)).rejects.toThrow('unknown')
    const approved = await approvedGrant(wallet)
    expect((await cancel(wallet, approved.pending)).status).toBe(204)
    await wallet.expectRefusal(404, 'invalid_continuation', () =>
      resume(wallet, approved.pending, { interact_ref: approved.interactRef }),
    )
    wallet.clock.advance(5_000)
    await wallet.expectRefusal(404, 'invalid_continuation', () => resume(wallet, pending))
  })

  it('CON-9 a denied grant stays denied when it is cancelled and swept', async () => {
    const wallet = await authWallet()
    const pending = await wallet.ask(POLLING_REQUEST)
    await decideAs(wallet, pending, 'deny')
    const before = (await wallet.records()).filter(({ kind }) => kind === 'grant')
    expect((await cancel(wallet, pending)).status).toBe(204)
    wallet.clock.advance(600_000)
    await wallet.openPayments.sweep()
    expect((await wallet.records()).filter(({ kind }) => kind === 'grant')).toEqual(before)
    await wallet.expectRefusal(401, 'request_denied', () => resume(wallet, pending))
  })
})
