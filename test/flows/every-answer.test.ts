import type { OperationId } from 'open-payments-server'
import { beforeAll, describe, expect, it } from 'vitest'
import { cancel, PLAIN_REQUEST, resume, revoke, rotate } from '../auth-server/auth-wallet.ts'
import { askPayment, askQuote, RECEIVING_ACCESS, spendingAccess } from '../resource-server/observed-wallet.ts'
import {
  ALICE,
  type Answer,
  AUTH,
  BASE,
  BOB,
  decideAs,
  grantAtOnce,
  requestConsent,
  testWallet,
  usd,
} from '../support/test-wallet.ts'

interface Sent {
  readonly name: OperationId | 'none'
  readonly url: string
  readonly status: number
  readonly headers: Answer['headers']
  readonly body: Answer['body']
}

// An operation that is new has no line here, and does not compile.
const STATUSES: Readonly<Record<Sent['name'], readonly number[]>> = {
  'post-request': [200, 200, 400, 401],
  discover: [200],
  'post-continue': [200, 401],
  'delete-continue': [204, 401],
  'post-token': [200, 404],
  'delete-token': [204, 401],
  interact: [200, 200],
  'create-incoming-payment': [201, 401],
  'list-incoming-payments': [200],
  'get-incoming-payment': [200, 200, 404],
  'complete-incoming-payment': [200, 404],
  'create-quote': [201, 400],
  'get-quote': [200],
  'create-outgoing-payment': [201, 403],
  'list-outgoing-payments': [200],
  'get-outgoing-payment': [200],
  'get-outgoing-payment-grant': [200],
  'get-wallet-address': [200, 404, 404],
  'get-wallet-address-keys': [200, 404],
  none: [405, 405],
}

/** Every operation of every server as it succeeds, and refusals. */
async function sendEverything(): Promise<readonly Sent[]> {
  const wallet = await testWallet()
  const answers: Sent[] = []
  const keep = async (url: string, answer: Promise<Answer>): Promise<Answer> => {
    const { status, headers, body } = await answer
    const event = wallet.events.findLast(({ type }) => type === 'request')
    answers.push({ name: (event?.type === 'request' && event.operation) || 'none', url, status, headers, body })
    return answer
  }
  const send = (method: string, url: string, token?: string): Promise<Answer> =>
    keep(url, wallet.send(method, url, token === undefined ? {} : { token }))

  await send('OPTIONS', `${AUTH}/`)
  const pending = await keep(AUTH, requestConsent(wallet, spendingAccess()))
  await send('GET', pending.body.interact.redirect)
  await send('POST', pending.body.interact.redirect)
  const redirect = await decideAs(wallet, pending)
  wallet.clock.advance(5000)
  const json = { interact_ref: redirect?.searchParams.get('interact_ref') }
  const paying = await keep(AUTH, resume(wallet, pending, json))
  const asked = await keep(AUTH, grantAtOnce(wallet, RECEIVING_ACCESS))
  await keep(AUTH, wallet.send('POST', `${AUTH}/`, { json: {} }))
  await keep(AUTH, wallet.send('POST', `${AUTH}/`, { json: PLAIN_REQUEST, components: ['@method'] }))
  const [spending, receiving] = [paying.body.access_token.value, asked.body.access_token.value]

  const collection = `${BASE}/incoming-payments`
  const walletAddress = BOB
  const incoming = await keep(BASE, wallet.send('POST', collection, { token: receiving, json: { walletAddress } }))
  await keep(BASE, wallet.send('POST', collection, { json: { walletAddress } }))
  await send('GET', `${collection}?wallet-address=${BOB}`, receiving)
  await send('GET', incoming.body.id, receiving)
  await send('GET', incoming.body.id)
  await send('GET', `${collection}/${'0'.repeat(32)}`)
  const quote = await keep(BASE, askQuote(wallet, spending, { receiver: incoming.body.id, debitAmount: usd('1') }))
  await keep(BASE, askQuote(wallet, spending, {}))
  await send('GET', quote.body.id, spending)
  const outgoing = await keep(BASE, askPayment(wallet, spending, { quoteId: quote.body.id }))
  await keep(BASE, askPayment(wallet, receiving, { quoteId: quote.body.id }))
  await send('GET', `${BASE}/outgoing-payments?wallet-address=${ALICE}`, spending)
  await send('GET', outgoing.body.id, spending)
  await send('GET', `${BASE}/outgoing-payment-grant`, spending)
  await send('POST', `${incoming.body.id}/complete`, receiving)
  await send('POST', `${collection}/${'0'.repeat(32)}/complete`, receiving)
  await send('DELETE', collection, receiving)

  await send('GET', ALICE)
  await send('GET', `${ALICE}/jwks.json`)
  await send('GET', `${BASE}/nobody`)
  await send('GET', `${BASE}/nobody/jwks.json`)
  await send('GET', `${BASE}/nowhere/at/all`)

  await keep(AUTH, resume(wallet, pending, json, { token: 'x' }))
  await keep(AUTH, cancel(wallet, pending, { token: 'x' }))
  await keep(AUTH, rotate(wallet, asked))
  await keep(AUTH, rotate(wallet, paying, { token: 'x' }))
  await keep(AUTH, revoke(wallet, paying, { token: 'x' }))
  await keep(AUTH, revoke(wallet, paying))
  await keep(AUTH, cancel(wallet, asked))
  await send('GET', `${AUTH}/continue/1`)
  return answers
}

describe('every answer', () => {
  let answers: readonly Sent[]
  beforeAll(async () => {
    answers = await sendEverything()
  })

  it('is looked at', () => {
    const statusesOf = (name: string): readonly number[] =>
      answers.flatMap((answer) => (answer.name === name ? [answer.status] : [])).sort()
    expect(Object.fromEntries(Object.keys(STATUSES).map((name) => [name, statusesOf(name)]))).toEqual(STATUSES)
  })

  const kept = (isAbout: (sent: Sent) => boolean): readonly unknown[] =>
    answers
      .filter((sent) => isAbout(sent) && sent.headers['cache-control'] !== 'no-store')
      .map(({ name, status }) => [name, status])

  it('GRT-9 of the authorization server is one that nobody may keep', () => {
    expect(kept(({ url }) => url.startsWith(AUTH))).toEqual([])
  })

  it('RS-11 of the resource server is one that nobody may keep', () => {
    expect(kept(({ url, name }) => url.startsWith(BASE) && !name.startsWith('get-wallet-address'))).toEqual([])
  })

  it('WAS-8 but an address, its keys and a public incoming payment is hidden from pages of other origins', () => {
    const shown = answers.filter(({ headers }) =>
      Object.keys(headers).some((name) => name.startsWith('access-control-')),
    )
    expect(shown.map(({ name, status }) => [name, status])).toEqual([
      ['get-incoming-payment', 200],
      ['get-wallet-address', 200],
      ['get-wallet-address-keys', 200],
    ])
    expect(shown[0]?.body).toEqual({ authServer: AUTH, receivedAmount: usd('0') })
    for (const { headers } of shown) expect(headers['access-control-allow-origin']).toBe('*')
  })
})
