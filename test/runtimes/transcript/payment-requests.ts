import { eur, incomingToken, requestGrant } from './grant-requests.ts'
import { spendingGrant } from './interaction-requests.ts'
import type { ReadAnswer, Recorder } from './recorder.ts'

const usd = (value: string) => ({ value, assetCode: 'USD', assetScale: 4 })

/** Creates an incoming payment for Bob. */
export function createIncoming(
  { send, resourceServer }: Recorder,
  title: string,
  token: string,
  members: Readonly<Record<string, unknown>> = {},
): Promise<ReadAnswer> {
  const json = { walletAddress: `${resourceServer}/bob`, ...members }
  return send(title, 'POST', `${resourceServer}/incoming-payments`, { token, json })
}

/** Incoming payments: created, read, listed, completed, expired. */
export async function requestIncomingPayments(recorder: Recorder): Promise<void> {
  const { send, wait, momentIn, keys, resourceServer, authServer } = recorder
  const token = await incomingToken(recorder)
  const created = await createIncoming(recorder, 'with everything', token, {
    incomingAmount: eur('1000'),
    expiresAt: '2026-03-09T00:00:00.5+01:00',
    metadata: { note: 'Käse € 5 \u{1F9C0}', nested: { list: [1, 1.5e-7, true, null], 10: 'b', 9: 'a' }, empty: '' },
  })
  await createIncoming(recorder, 'with nothing', token)
  const refused: readonly (readonly [string, Readonly<Record<string, unknown>>])[] = [
    ['amount in another asset', { incomingAmount: usd('1') }],
    ['amount of zero', { incomingAmount: eur('0') }],
    ['amount beyond the largest', { incomingAmount: eur('99999999999999999999') }],
    ['expiry in the past', { expiresAt: '2020-01-01T00:00:00Z' }],
    ['expiry that is no moment', { expiresAt: 'tomorrow' }],
    ['wallet address unknown', { walletAddress: `${resourceServer}/nobody` }],
    ['wallet address closed', { walletAddress: `${resourceServer}/closed` }],
    ['wallet address elsewhere', { walletAddress: 'https://a.example/b' }],
    ['unknown member', { amount: 1 }],
    ['metadata that is no object', { metadata: 'text' }],
    ['metadata too large', { metadata: { text: 'x'.repeat(9000) } }],
  ]
  for (const [title, members] of refused) await createIncoming(recorder, title, token, members)
  const { id } = created.json
  await send('read', 'GET', id, { token })
  await send('read as anybody', 'GET', id, { isSigned: false })
  await send('read with a query', 'GET', `${id}?x=%7e+%20`, { token })
  await send('read unsigned with a token', 'GET', id, { token, isSigned: false })
  await send('read what is not there', 'GET', `${resourceServer}/incoming-payments/${'0'.repeat(32)}`, { token })
  const foreign = await send('a stranger’s access', 'POST', authServer, {
    key: keys.directed,
    json: {
      access_token: { access: [{ type: 'incoming-payment', actions: ['read', 'complete'] }] },
      client: { jwk: keys.directed.jwk },
    },
  })
  const theirs = { token: foreign.json.access_token.value, key: keys.directed }
  await send('read as a stranger', 'GET', id, theirs)
  await send('complete as a stranger', 'POST', `${id}/complete`, theirs)
  await send('create without the right', 'POST', `${resourceServer}/incoming-payments`, {
    ...theirs,
    json: { walletAddress: `${resourceServer}/bob` },
  })

  for (const order of [1, 2, 3]) {
    wait(1)
    await createIncoming(recorder, 'one more', token, { metadata: { order } })
  }
  const list = (query: string): Promise<ReadAnswer> =>
    send('list', 'GET', `${resourceServer}/incoming-payments?${query}`, { token })
  const bob = `wallet-address=${encodeURIComponent(`${resourceServer}/bob`)}`
  const { pagination } = (await list(`${bob}&first=2`)).json
  await list(`${bob}&first=2&cursor=${pagination.endCursor}`)
  await list(`${bob}&last=2&cursor=${pagination.endCursor}`)
  for (const more of [
    '',
    '&first=0',
    '&first=101',
    '&first=2&last=2',
    '&last=1',
    '&cursor=unknown',
    '&first=1&first=1',
  ]) {
    await list(bob + more)
  }
  await list('')
  await list(`wallet-address=${encodeURIComponent('https://a.example/b')}`)

  await send('complete', 'POST', `${id}/complete`, { token })
  await send('complete again', 'POST', `${id}/complete`, { token, json: {} })
  await send('read what is completed', 'GET', id, { token })
  const brief = await createIncoming(recorder, 'for a minute', token, { expiresAt: momentIn(60) })
  wait(700)
  const later = await incomingToken(recorder)
  await send('complete what has expired', 'POST', `${brief.json.id}/complete`, { token: later })
  await send('read what has expired', 'GET', brief.json.id, { token: later })
  await send('use a token that has expired', 'GET', brief.json.id, { token })
}

/** Quotes and outgoing payments, to their end. */
export async function requestOutgoingPayments(recorder: Recorder): Promise<void> {
  const { send, wait, resourceServer } = recorder
  const alice = `${resourceServer}/alice`
  const receiving = await incomingToken(recorder)
  const incoming = await createIncoming(recorder, 'to be paid', receiving, { incomingAmount: eur('1000') })
  const open = await createIncoming(recorder, 'to be paid, open', receiving)
  const abroad = await createIncoming(recorder, 'to be paid, in another asset', receiving, {
    walletAddress: `${resourceServer}/carol`,
  })
  const granted = await spendingGrant(recorder, { debitAmount: eur('5000') })
  const token = granted.json.access_token.value
  const quote = (title: string, members: Readonly<Record<string, unknown>>): Promise<ReadAnswer> =>
    send(title, 'POST', `${resourceServer}/quotes`, {
      token,
      json: { walletAddress: alice, method: 'ilp', ...members },
    })
  const quoted = await quote('quote', { receiver: incoming.json.id })
  await quote('quote by debit', { receiver: open.json.id, debitAmount: eur('250') })
  await quote('quote by receipt', { receiver: open.json.id, receiveAmount: eur('250') })
  await quote('quote by debit across assets', { receiver: abroad.json.id, debitAmount: eur('777') })
  await quote('quote by receipt across assets', { receiver: abroad.json.id, receiveAmount: usd('12345') })
  await quote('quote too little', { receiver: abroad.json.id, debitAmount: eur('2') })
  await quote('quote without an amount', { receiver: open.json.id })
  await quote('quote with two amounts', { receiver: open.json.id, debitAmount: eur('1'), receiveAmount: eur('1') })
  await quote('quote in a wrong asset', { receiver: open.json.id, debitAmount: usd('1') })
  await quote('quote by another method', { receiver: open.json.id, debitAmount: eur('1'), method: 'card' })
  await quote('quote for nobody', { receiver: `${resourceServer}/incoming-payments/${'0'.repeat(32)}` })
  await quote('quote for elsewhere', { receiver: `https://a.example/incoming-payments/${'0'.repeat(32)}` })
  await send('read the quote', 'GET', quoted.json.id, { token })
  await send('read no quote', 'GET', `${resourceServer}/quotes/${'0'.repeat(32)}`, { token })
  await send('read the quote with another token', 'GET', quoted.json.id, { token: receiving })

  const payments = `${resourceServer}/outgoing-payments`
  const pay = (title: string, members: Readonly<Record<string, unknown>>, more = {}): Promise<ReadAnswer> =>
    send(title, 'POST', payments, { token, json: { walletAddress: alice, ...members }, ...more })
  const paid = await pay('pay', { quoteId: quoted.json.id, metadata: { order: 7 } })
  await pay('pay with the same signature', { quoteId: quoted.json.id, metadata: { order: 7 } })
  wait(1)
  await pay('pay the quote again', { quoteId: quoted.json.id })
  await send('read the payment', 'GET', paid.json.id, { token })
  await send('read what was received', 'GET', incoming.json.id, { token: receiving })
  await send('read it as anybody', 'GET', incoming.json.id, { isSigned: false })
  await send('read what was spent', 'GET', `${resourceServer}/outgoing-payment-grant`, { token })
  await pay('pay what is completed', { incomingPayment: incoming.json.id, debitAmount: eur('1') })
  await pay('pay without a quote', { incomingPayment: open.json.id, debitAmount: eur('250'), metadata: null })
  await pay('pay across assets', { incomingPayment: abroad.json.id, debitAmount: eur('777') })
  await pay('pay beyond the limit', { incomingPayment: open.json.id, debitAmount: eur('5000') })
  await pay('pay in a wrong asset', { incomingPayment: open.json.id, debitAmount: usd('1') })
  await pay('pay with neither', { metadata: {} })
  await pay('pay from elsewhere', { walletAddress: `${resourceServer}/bob`, quoteId: quoted.json.id })
  const components = ['@method', '@target-uri', 'authorization', 'content-digest', 'content-type', 'idempotency-key']
  const keyed = (key: string) => ({ headers: { 'idempotency-key': key }, components })
  const order = { incomingPayment: open.json.id, debitAmount: eur('100') }
  await pay('pay under a key', order, keyed('order-8'))
  wait(1)
  await pay('pay under the same key', order, keyed('order-8'))
  await pay('pay something else under it', { ...order, debitAmount: eur('101') }, keyed('order-8'))
  await pay('pay under a key that is not signed', order, { headers: { 'idempotency-key': 'order-9' } })
  await pay('pay under a key that is none', order, keyed('order 9'))
  const mine = `wallet-address=${encodeURIComponent(alice)}`
  await send('list the payments', 'GET', `${payments}?${mine}`, { token })
  await send('list two of them', 'GET', `${payments}?${mine}&first=2`, { token })
  await send('read no payment', 'GET', `${payments}/${'0'.repeat(32)}`, { token })
  wait(301)
  const late = await quote('a quote that expires', { receiver: open.json.id, debitAmount: eur('1') })
  wait(200)
  const boundless = (await spendingGrant(recorder)).json.access_token
  wait(101)
  await pay('pay a quote that has expired', { quoteId: late.json.id }, { token: boundless.value })
  const all = { incomingPayment: open.json.id, debitAmount: eur('9999999') }
  await pay('pay more than there is', all, { token: boundless.value })
  await send('read it with a quote’s token', 'GET', paid.json.id, { token: receiving })
}

/** Tokens: rotated, revoked, expired. */
export async function requestTokens(recorder: Recorder): Promise<void> {
  const { send, wait, keys, authServer } = recorder
  const first = (await requestGrant(recorder, 'a token', [{ type: 'quote', actions: ['create'] }])).json.access_token
  await send('rotate without the token', 'POST', first.manage)
  await send('rotate with another token', 'POST', first.manage, { token: 'AAAA' })
  await send('rotate with another key', 'POST', first.manage, { token: first.value, key: keys.stranger })
  await send('rotate to another key', 'POST', first.manage, { token: first.value, json: { key: { proof: 'httpsig' } } })
  const second = (await send('rotate', 'POST', first.manage, { token: first.value })).json.access_token
  await send('rotate again', 'POST', first.manage, { token: first.value })
  wait(61)
  await send('rotate much later', 'POST', first.manage, { token: first.value })
  await send('revoke the old one', 'DELETE', first.manage, { token: first.value })
  await send('revoke', 'DELETE', second.manage, { token: second.value })
  await send('revoke again', 'DELETE', second.manage, { token: second.value })
  await send('rotate what nobody knows', 'POST', `${authServer}/token/1`, { token: second.value })
  const third = (await requestGrant(recorder, 'a token', [{ type: 'quote', actions: ['create'] }])).json.access_token
  wait(601)
  await send('rotate one that has expired', 'POST', third.manage, { token: third.value })
}
