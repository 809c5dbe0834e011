import { consentPage } from 'open-payments-server/consent'
import { memoryStorage } from 'open-payments-server/storage/memory'
import { expect, it } from 'vitest'
import { ALICE, OWNER, requestConsent, testWallet } from '../support/test-wallet.ts'

const ACCESS = [{ type: 'outgoing-payment', actions: ['create'], identifier: ALICE }]

/** A wallet with the consent page, one question, and a form that answers it. */
async function openedQuestion(storage = memoryStorage()) {
  const consent = consentPage({ walletName: 'A Wallet', authenticate: async () => OWNER })
  const wallet = await testWallet({ consent, storage })
  const pending = await requestConsent(wallet, ACCESS)
  const url = pending.body.interact.redirect
  const page = await (await wallet.openPayments.fetch(new Request(url))).text()
  const [, csrf = ''] = /name="csrf" value="([^"]+)"/.exec(page) ?? []
  const press = (decision: string): Promise<Response> =>
    wallet.openPayments.fetch(new Request(url, { method: 'POST', body: new URLSearchParams({ csrf, decision }) }))
  return { press }
}

it.each(['approve', 'deny'])(
  'INT-13 of a button that is pressed twice at once (%s), both presses lead back to the client',
  async (decision) => {
    const { press } = await openedQuestion()
    const answers = await Promise.all([press(decision), press(decision)])
    const [one, other] = answers.map((answer) => answer.headers.get('location'))
    expect(answers.map(({ status }) => status)).toEqual([303, 303])
    expect(one).toMatch(/^https:\/\/shop\.example\/done/)
    expect(other).toBe(one)
  },
)

it('INT-3 of two buttons that are pressed at once, one counts, and the other leads nowhere', async () => {
  const { press } = await openedQuestion()
  const answers = await Promise.all([press('approve'), press('deny')])
  expect(answers.map(({ status }) => status).toSorted()).toEqual([303, 410])
})

it('INT-3 leads nowhere once it was answered', async () => {
  const { press } = await openedQuestion()
  expect((await press('approve')).status).toBe(303)
  const late = await press('approve')
  expect([late.status, late.headers.get('location')]).toEqual([410, null])
})

it('INT-3 of a press that the wallet could not answer, nothing is kept: the next one counts', async () => {
  const inner = memoryStorage()
  let isAway = false
  const { press } = await openedQuestion({
    ...inner,
    commit: (changes) => (isAway ? Promise.reject(new Error('connection lost')) : inner.commit(changes)),
  })
  isAway = true
  expect((await press('approve')).status).toBe(503)
  isAway = false
  expect((await press('approve')).status).toBe(303)
})
