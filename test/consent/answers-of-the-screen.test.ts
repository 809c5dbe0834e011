import type { Consent } from 'open-payments-server'
import { consentPage, consentRedirect } from 'open-payments-server/consent'
import { toNodeListener } from 'open-payments-server/node'
import { describe, expect, it } from 'vitest'
import { testServers } from '../support/test-servers.ts'
import { testWallet } from '../support/test-wallet.ts'

const { listen } = testServers()

/** A screen of plain JavaScript, which answers anything. */
function answering(answer: unknown): Consent {
  const consent: Consent = {
    respond: async () => ({ status: 200, headers: {} }),
    failed: async (status) => ({ status, headers: { 'content-type': 'text/plain' }, body: 'sorry' }),
  }
  Reflect.set(consent, 'respond', async () => answer)
  return consent
}

/** What a browser gets at the interaction URL, and what the wallet is told; the same on every host. */
async function visit(consent: Consent) {
  const { openPayments, events } = await testWallet({ consent })
  const seen: unknown[] = []
  const read = async (response: Response): Promise<void> => {
    const { status, headers } = response
    seen.push({ status, location: headers.get('location'), text: await response.text() })
  }
  const port = await listen(toNodeListener({ ...openPayments, owns: async () => true }))
  await read(await openPayments.fetch(new Request('https://auth.wallet.example/interact/x')))
  // The listener answers by path alone: the base URL of this server has none.
  await read(await fetch(`http://127.0.0.1:${port}/interact/x`, { redirect: 'manual' }))
  const [onFetch, onNode] = seen
  expect(onNode).toEqual(onFetch)
  const faults = events.flatMap((event) => (event.type === 'fault' ? [event.message] : []))
  expect(faults[1]).toBe(faults[0])
  return { answer: onFetch, fault: faults[0] }
}

const page = (change: object): unknown => ({ status: 200, headers: {}, body: '<p>hello</p>', ...change })
const STATUS = 'consent.respond: status must be an integer from 200 to 599'
const HEADERS = 'consent.respond: headers must be an object of strings'
const BODY = 'consent.respond: body must be a string or a Uint8Array'
const inHeader = (name: string): string =>
  `consent.respond: the header ${name} must be a string without control characters and without any above U+00FF`

const MISTAKES: readonly (readonly [string, unknown, string])[] = [
  ['nothing', undefined, 'consent.respond: the answer must be an object with status and headers'],
  ['a text', '<p>hello</p>', 'consent.respond: the answer must be an object with status and headers'],
  ['no status', { statusCode: 200, headers: {} }, STATUS],
  ['a status that is a text', page({ status: '200' }), STATUS],
  ['a status with a fraction', page({ status: 200.5 }), STATUS],
  ['a status that is no final one', page({ status: 199 }), STATUS],
  ['a status that is none', page({ status: 600 }), STATUS],
  ['no headers', { status: 200 }, HEADERS],
  ['headers that are null', page({ headers: null }), HEADERS],
  ['the Headers of Fetch', page({ headers: new Headers({ location: '/' }) }), HEADERS],
  ['a list of headers', page({ headers: [['location', '/']] }), HEADERS],
  ['a Response of Fetch', new Response('hello'), HEADERS],
  ['a name that no header has', page({ headers: { 'a b': 'c' } }), 'consent.respond: a b is not the name of a header'],
  ['a header that is a number', page({ headers: { age: 1 } }), inHeader('age')],
  ['a header that is undefined', page({ headers: { location: undefined } }), inHeader('location')],
  ['a header above U+00FF', page({ headers: { location: '/přihlášení' } }), inHeader('location')],
  ['a header with a line feed', page({ headers: { location: '/\nset-cookie: a=b' } }), inHeader('location')],
  ['a header that ends in a line feed', page({ headers: { location: '/\n' } }), inHeader('location')],
  ['a header with a control character', page({ headers: { location: '/\u007f' } }), inHeader('location')],
  ['a body that is an object', page({ body: {} }), BODY],
  ['a body that is null', page({ body: null }), BODY],
]

describe('an answer of the wallet’s screen that no host could send', () => {
  it.each(MISTAKES)('%s is its page of failure and a fault that says so', async (_, answer, message) => {
    expect(await visit(answering(answer))).toEqual({
      answer: { status: 500, location: null, text: 'sorry' },
      fault: message,
    })
  })

  it('is the error of the server where its page of failure is no answer, either', async () => {
    const consent = answering(page({ status: 0 }))
    Reflect.set(consent, 'failed', async () => page({ headers: { 'x-name': 'Jiří' } }))
    const { answer, fault } = await visit(consent)
    expect(answer).toMatchObject({ status: 500, text: expect.stringContaining('"code":"request_denied"') })
    expect(fault).toBe(STATUS)
  })

  it.each([200, 599])('is not one with the status %i', async (status) => {
    expect(await visit(answering(page({ status })))).toEqual({
      answer: { status, location: null, text: '<p>hello</p>' },
      fault: undefined,
    })
  })

  it('is not one with every character that a header can hold, and bytes for a body', async () => {
    const consent = answering(page({ headers: { location: '/\t ~\u0080ÿ' }, body: new TextEncoder().encode('€') }))
    const { answer, fault } = await visit(consent)
    expect(answer).toMatchObject({ status: 200, location: '/\t ~\u0080ÿ', text: '€' })
    expect(fault).toBeUndefined()
  })
})

const sending = (redirect: unknown): Consent => {
  const user = { redirect: '' }
  Reflect.set(user, 'redirect', redirect)
  return consentPage({ walletName: 'Harbour Bank', authenticate: async () => user })
}
const leading = (url: unknown): Consent => {
  const options = { url: () => '' }
  Reflect.set(options, 'url', () => url)
  return consentRedirect(options)
}

describe.each([
  ['consentPage: the redirect of authenticate', sending],
  ['consentRedirect: what url answers', leading],
])('%s', (name, consentOf) => {
  it.each([
    ['/login?next=%2Finteract%2Fx', '/login?next=%2Finteract%2Fx'],
    ['https://wallet.example/a b?c|d', 'https://wallet.example/a b?c|d'],
    ['https://wallet.example/同意/x?é#ř', 'https://wallet.example/%E5%90%8C%E6%84%8F/x?%C3%A9#%C5%99'],
    ['https://účet.example/%zz?a b', 'https://xn--et-qka0f.example/%zz?a%20b'],
    ['app.wallet:/účet', 'app.wallet:/%C3%BA%C4%8Det'],
    ['/přihlášení?next=%2Fa&b=😀', '/p%C5%99ihl%C3%A1%C5%A1en%C3%AD?next=%2Fa&b=%F0%9F%98%80'],
  ])('is sent as a browser would read it: %s', async (url, location) => {
    const { answer, fault } = await visit(consentOf(url))
    expect(fault).toBeUndefined()
    expect(answer).toEqual({ status: 303, location, text: '' })
  })

  it.each([undefined, null, '', 7, Promise.resolve('/login')])('must be a URL, not %s', async (url) => {
    const { answer, fault } = await visit(consentOf(url))
    expect(answer).toMatchObject({ status: 500, location: null })
    expect(fault).toBe(`${name} must be a URL, as a string`)
  })
})

it.each([true, 'alice', 7])('a person is no %s, and the fault says what authenticate may answer', async (user) => {
  const options = { walletName: 'Harbour Bank', authenticate: async () => undefined }
  Reflect.set(options, 'authenticate', async () => user)
  const { answer, fault } = await visit(consentPage(options))
  expect(answer).toMatchObject({ status: 500, location: null })
  expect(fault).toBe('consentPage: authenticate must answer { session, walletAddresses }, { redirect } or undefined')
})
