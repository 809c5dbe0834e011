import type { ConsentData } from 'open-payments-server'
import { consentPage } from 'open-payments-server/consent'
import { expect, it, vi } from 'vitest'
import { browserRequest } from '../consent/fake-interactions.ts'
import { ALICE, AUTH, CLIENT, OWNER, requestConsent, testWallet, usd } from '../support/test-wallet.ts'
import { toldConsent } from './told-consent.ts'

it.each(['approve', 'deny'] as const)(
  'of what a person decides on the ready page an approval is told: %s',
  async (decision) => {
    const told: ConsentData[] = []
    const error = vi.spyOn(console, 'error').mockImplementation(() => undefined)
    const page = consentPage({ walletName: 'My Wallet', authenticate: async () => OWNER })
    const consent = toldConsent(page, async (approved) => {
      told.push(approved)
      throw new Error('the mail server is away')
    })
    expect(consent.failed).toBe(page.failed)
    const wallet = await testWallet({ consent })
    const limits = { debitAmount: usd('500') }
    const access = [{ type: 'outgoing-payment', actions: ['create'], identifier: ALICE, limits }]
    const target = (await requestConsent(wallet, access)).body.interact.redirect.slice(new URL(AUTH).origin.length)
    const shown = await wallet.sendRaw({ ...browserRequest('GET', {}), target })
    const csrf = /name="csrf" value="([^"]*)"/.exec(shown.text ?? '')?.[1] ?? ''
    const answer = async (value: string) => {
      const form = `decision=${decision}&csrf=${encodeURIComponent(value)}`
      const headers = { 'content-type': 'application/x-www-form-urlencoded' }
      return wallet.sendRaw({ ...browserRequest('POST', headers, form), target })
    }
    expect((await answer('something else')).status).toBe(403)
    expect(told).toEqual([])
    expect((await answer(csrf)).status).toBe(303)
    const approval = { client: { id: CLIENT }, walletAddress: ALICE, access: [{ debitAmount: '5.00 USD' }] }
    expect(told).toMatchObject(decision === 'approve' ? [approval] : [])
    expect(error).toHaveBeenCalledTimes(told.length)
    error.mockRestore()
  },
)
