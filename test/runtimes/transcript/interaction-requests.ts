import { eur, FINISH, outgoing, QUOTE, requestGrant } from './grant-requests.ts'
import type { ReadAnswer, Recorder, Sending } from './recorder.ts'

const BROWSER: Sending = { isSigned: false, headers: { cookie: 'greeted=yes; session=alice' } }

function form(body: string, type = 'application/x-www-form-urlencoded'): Sending {
  return { ...BROWSER, headers: { ...BROWSER.headers, 'content-type': type }, body }
}

function csrfOf({ text }: ReadAnswer): string {
  return /name="csrf" value="([^"]+)"/.exec(text)?.[1] ?? ''
}

/** Asks Alice for access. */
export function requestConsent(recorder: Recorder, access: readonly unknown[]): Promise<ReadAnswer> {
  return requestGrant(recorder, 'ask for consent', access, { interact: { start: ['redirect'], finish: FINISH } })
}

/** Alice opens the page and answers; resolves with the reference that her browser takes to the client. */
export async function decide({ send }: Recorder, pending: ReadAnswer, decision: 'approve' | 'deny'): Promise<string> {
  const url = pending.json.interact.redirect
  const page = await send('open the consent page', 'GET', url, BROWSER)
  const answer = await send(
    decision,
    'POST',
    url,
    form(`decision=${decision}&csrf=${encodeURIComponent(csrfOf(page))}`),
  )
  return new URL(answer.headers['location'] ?? '').searchParams.get('interact_ref') ?? ''
}

/** Continues a grant. */
export function proceed({ send }: Recorder, title: string, pending: ReadAnswer, json?: unknown): Promise<ReadAnswer> {
  const { uri, access_token } = pending.json.continue
  return send(title, 'POST', uri, { token: access_token.value, ...(json !== undefined && { json }) })
}

/** A token to pay with from Alice's account, and to quote. */
export async function spendingGrant(
  recorder: Recorder,
  limits?: Readonly<Record<string, unknown>>,
): Promise<ReadAnswer> {
  const pending = await requestConsent(recorder, [outgoing(recorder, limits), QUOTE])
  const reference = await decide(recorder, pending, 'approve')
  recorder.wait(5)
  return proceed(recorder, 'continue', pending, { interact_ref: reference })
}

/** Consent: pages, answers, continuations, and what is refused on the way. */
export async function requestInteractions(recorder: Recorder): Promise<void> {
  const { send, wait, authServer, keys } = recorder
  const pending = await requestConsent(recorder, [
    outgoing(recorder, { debitAmount: eur('123456'), interval: 'R3/2026-02-28T23:30:00Z/P1M' }),
    QUOTE,
  ])
  const { uri, access_token } = pending.json.continue
  const url = pending.json.interact.redirect
  const page = await send('open the consent page', 'GET', url, BROWSER)
  await send('open it again', 'GET', url, BROWSER)
  await send('open it without a login', 'GET', url, { isSigned: false })
  await send('open what nobody knows', 'GET', `${authServer}/interact/unknown`, BROWSER)
  const csrf = encodeURIComponent(csrfOf(page))
  await send('answer without a proof', 'POST', url, form('decision=approve'))
  await send('answer with a wrong proof', 'POST', url, form('decision=approve&csrf=AAAA'))
  await send('answer nothing', 'POST', url, form(`csrf=${csrf}`))
  await send('answer in JSON', 'POST', url, form('{"decision":"approve"}', 'application/json'))
  await send('answer at length', 'POST', url, form(`decision=approve&csrf=${'x'.repeat(9000)}`))
  await send('answer without a body', 'POST', url, BROWSER)
  await proceed(recorder, 'continue before she answered', pending)
  await proceed(recorder, 'continue too early', pending, { interact_ref: 'anything' })
  wait(5)
  await proceed(recorder, 'continue with an invented reference', pending, { interact_ref: 'anything' })
  const answer = await send('approve', 'POST', url, form(`decision=approve&csrf=${csrf}`))
  const reference = new URL(answer.headers['location'] ?? '').searchParams.get('interact_ref') ?? ''
  await send('approve again', 'POST', url, form(`decision=approve&csrf=${csrf}`))
  await send('open it afterwards', 'GET', url, BROWSER)
  const json = { interact_ref: reference }
  await send('continue with another key', 'POST', uri, { token: access_token.value, json, key: keys.stranger })
  await send('continue with another token', 'POST', uri, { token: 'AAAA', json })
  await send('continue without a token', 'POST', uri, { json })
  await send('continue what nobody knows', 'POST', `${authServer}/continue/1`, { token: access_token.value, json })
  await proceed(recorder, 'continue with a wrong reference', pending, { interact_ref: 'wrong' })
  await proceed(recorder, 'continue with more than a reference', pending, { interact_ref: reference, more: 1 })
  await proceed(recorder, 'continue without the reference', pending)
  const issued = await proceed(recorder, 'continue', pending, json)
  await proceed(recorder, 'continue again', pending, json)
  const token = issued.json.access_token
  await send('rotate', 'POST', token.manage, { token: token.value })
  await proceed(recorder, 'continue after the rotation', pending, json)
  await send('cancel', 'DELETE', uri, { token: access_token.value })
  await send('cancel again', 'DELETE', uri, { token: access_token.value })
  await send('cancel what nobody knows', 'DELETE', `${authServer}/continue/1`, { token: access_token.value })

  const denied = await requestConsent(recorder, [outgoing(recorder)])
  await decide(recorder, denied, 'deny')
  wait(5)
  await proceed(recorder, 'continue what was denied', denied, json)

  const polled = await requestGrant(recorder, 'ask without a finish', [outgoing(recorder)], {
    interact: { start: ['redirect'] },
  })
  wait(5)
  await proceed(recorder, 'poll', polled)
  await send('open the consent page', 'GET', polled.json.interact.redirect, BROWSER)
  wait(601)
  await send('open it too late', 'GET', polled.json.interact.redirect, BROWSER)
  await proceed(recorder, 'poll too late', polled, {})
}
