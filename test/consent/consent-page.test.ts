import { createHash } from 'node:crypto'
import { setImmediate } from 'node:timers/promises'
import { describe, expect, it, vi } from 'vitest'
import { type AuthenticatedUser, consentPage, consentRedirect } from '../../adapters/consent/index.ts'
import type { ConsentData } from '../../src/ports/consent.ts'
import type { HttpResponse } from '../../src/ports/http-exchange.ts'
import { bodyText } from '../support/body-text.ts'
import { noteParsed } from '../support/note-parsed.ts'
import { ALICE, browserRequest, CONSENT, fakeInteractions } from './fake-interactions.ts'

const URL_OF_INTERACTION = 'https://wallet.example/auth/interact/reference'
const USER: AuthenticatedUser = {
  session: 'session',
  walletAddresses: ['https://wallet.example/bob', ALICE],
  name: 'Alice',
}
/** What the page draws where something was done; a letter i elsewhere. */
const TICK = '<path d="m15 25 6 6 12-13"/>'
const FORM = { 'content-type': 'application/x-www-form-urlencoded' }

interface Visit {
  readonly form?: string
  readonly headers?: Readonly<Record<string, string>>
  readonly user?: AuthenticatedUser | { readonly redirect: string } | null | undefined
  readonly reference?: string
  readonly homeUrl?: string
}

/** A browser at one interaction. */
function browse(fake = fakeInteractions()) {
  return (visit: Visit = {}): Promise<HttpResponse> => {
    const user = 'user' in visit ? visit.user : USER
    const { form, headers = form === undefined ? {} : FORM, reference = 'reference', homeUrl } = visit
    const authenticate = async () => user
    return consentPage({ walletName: 'Harbour <Bank>', authenticate, ...(homeUrl && { homeUrl }) }).respond({
      request: browserRequest(form === undefined ? 'GET' : 'POST', headers, form),
      reference,
      url: URL_OF_INTERACTION,
      interactions: fake.interactions,
    })
  }
}

async function pageOf(changes: Partial<ConsentData> = {}): Promise<string> {
  return bodyText(await browse(fakeInteractions({ ...CONSENT, ...changes }))()) ?? ''
}

function policyOf({ headers }: HttpResponse): Readonly<Record<string, string>> {
  const directives = (headers['content-security-policy'] ?? '').split('; ')
  return Object.fromEntries(
    directives.map((directive) => [directive.split(' ', 1)[0], directive.split(' ').slice(1).join(' ')]),
  )
}

describe('a form', () => {
  it('T-36 is read behind parameters that are not UTF-8, which no parser is given', async () => {
    const given = noteParsed('URLSearchParams')
    try {
      const { status } = await browse()({ form: `${'=%FF&'.repeat(1000)}csrf=csrf-value&decision=deny` })
      expect([status, given.length]).toEqual([303, 1])
      for (const query of given) expect(() => decodeURIComponent(query)).not.toThrow()
    } finally {
      vi.unstubAllGlobals()
    }
  })
})

describe('the question', () => {
  it('INT-11 shows who asks, by name and by origin, and whose account it is about', async () => {
    const page = await pageOf()
    for (const text of ['Mia’s Bicycles', 'https://shop.example', 'https://shop.example/pay', ALICE])
      expect(page).toContain(text)
  })

  it('INT-11 says that nobody checked the name, where there is one', async () => {
    const { name: _, ...client } = CONSENT.client
    expect(await pageOf()).toContain('The name is its own choice')
    expect(await pageOf({ client })).not.toContain('The name is its own choice')
  })

  it('INT-11 shows the whole address beside the name, and emphasises its origin', async () => {
    expect(await pageOf()).toContain('<p class="asker"><bdi><strong>https://shop.example</strong>/pay</bdi> ')
  })

  it('INT-11 says of a client with an account here that it is not the wallet', async () => {
    const text = 'This does not mean that Harbour &lt;Bank&gt; itself asks.'
    expect(await pageOf({ client: { ...CONSENT.client, isLocal: true } })).toContain(text)
    expect(await pageOf()).not.toContain(text)
  })

  it('LIM-10 promises no total where several rights to send money have one each', async () => {
    const [right] = CONSENT.access
    if (right === undefined) throw new Error('no right')
    const { interval: _, ...once } = right
    const page = await pageOf({ access: [once, { ...once, debitAmount: '5.00 USD' }] })
    expect(page).toContain('2 rights to send money')
    expect(page).not.toContain('in total')
    expect(await pageOf({ access: [once] })).toContain('in total')
  })

  it('INT-11 names the account also where no money is to be sent', async () => {
    for (const access of [[], [{ access: { type: 'incoming-payment', actions: ['create'] } }]] as const)
      expect(await pageOf({ access, subject: true })).toContain(`<dt>Your account</dt><dd><bdi>${ALICE}</bdi></dd>`)
    expect(await pageOf()).toContain(`<dt>From</dt><dd><bdi>${ALICE}</bdi></dd>`)
  })

  it('INT-11 heads the page with the wallet address of a client without a name', async () => {
    const { name: _, ...client } = CONSENT.client
    expect(await pageOf({ client })).toContain('<h1><bdi>https://shop.example/pay</bdi> asks')
  })

  it('INT-11 shows amounts, the number of windows, the last end, the receiver and the host of the finish', async () => {
    const page = await pageOf()
    for (const text of [
      '<strong>120.00 USD</strong> every month',
      'Every month, 12 times in all',
      '1 March 2026 at 00:00 UTC',
      '1 March 2027 at 00:00 UTC',
      'https://shop.example/incoming-payments/1',
      'Your browser goes to <strong><bdi>finish.example</bdi>',
      '27 February 2026 at 12:34 UTC',
    ]) {
      expect(page).toContain(text)
    }
  })

  it('writes a long amount smaller, so that it breaks over no line', async () => {
    const withAmount = (debitAmount: string) =>
      pageOf({
        access: [{ access: { type: 'outgoing-payment', actions: ['create'], identifier: ALICE }, debitAmount }],
      })
    expect(await withAmount('1234567.00 USD')).toContain('<p class="ceiling"><span>')
    expect(await withAmount('184467440737095516.15 USD')).toContain('<p class="ceiling long"><span>')
  })

  it('T-20 warns where the client asked for no redirect, and only there', async () => {
    const { finishHost: _, ...consent } = CONSENT
    const warned = await browse(fakeInteractions(consent))()
    expect(warned.body).toContain('Did you start this yourself?')
    expect(await pageOf()).not.toContain('Did you start this yourself?')
    expect(await pageOf()).toContain('<p>If it was not you who began this, deny it.</p>')
  })

  it('INT-11 warns, beside the right, of one to send money that has no upper limit', async () => {
    const access = { type: 'outgoing-payment', actions: ['create'], identifier: ALICE } as const
    const warning = '<p class="note"><strong>Take care.</strong> There is no upper limit: it could send all the money'
    expect(await pageOf({ access: [{ access }] })).toContain(`<h2>Send money</h2>\n${warning}`)
    expect(await pageOf()).not.toContain('Take care.')
  })

  it('INT-11 says what each right lets the client do', async () => {
    const sending = 'Send payments from this account without asking you again, within these limits.'
    const seeing = 'See the payments that it has sent itself.'
    expect(await pageOf()).toContain(`<ul><li>${sending}</li><li>${seeing}</li></ul>\n</section>`)
  })

  it('INT-11 says in its title who asks, for what, and whose page it is', async () => {
    const title = 'Mia’s Bicycles asks to send money from your account – Harbour &lt;Bank&gt;'
    expect(await pageOf()).toContain(`<title>${title}</title>`)
    const unknown = bodyText(await browse()({ reference: 'other' }))
    expect(unknown).toContain('<title>We do not know this request – Harbour &lt;Bank&gt;</title>')
  })

  it('INT-2 writes every text from outside as text', async () => {
    const hostile = `<script>"'&`
    const page = await pageOf({
      client: { id: hostile, name: hostile, origin: hostile, isLocal: false },
      walletAddress: ALICE,
      finishHost: hostile,
      access: [
        {
          access: { type: 'outgoing-payment', actions: ['create'], identifier: hostile },
          debitAmount: hostile,
          receiver: hostile,
        },
      ],
    })
    expect(page).not.toContain('<script>')
    expect(page).not.toContain(`"'&`)
    expect(page.split('&lt;script&gt;&quot;&#39;&amp;').length).toBeGreaterThan(7)
    expect(page).toContain('Harbour &lt;Bank&gt;')
  })

  it('is one form that posts to the interaction URL, with a button for each answer', async () => {
    const page = await pageOf()
    expect(page.match(/<form /g)).toHaveLength(1)
    expect(page).toContain(`<form method="post" action="${URL_OF_INTERACTION}"`)
    expect(page).toContain('<input type="hidden" name="csrf" value="csrf-value">')
    expect(page).toContain('<button name="decision" value="approve">')
    expect(page).toContain('<button name="decision" value="deny">')
  })

  it('names its language, its landmarks and each of its sections', async () => {
    const page = await pageOf()
    expect(page).toContain('<html lang="en">')
    expect(page).toContain('<meta name="viewport"')
    expect(page.match(/<main>/g)).toHaveLength(1)
    expect(page.match(/<h1>/g)).toHaveLength(1)
    const sections = [...page.matchAll(/<section aria-label="([^"]+)">\n<h2>([^<]+)<\/h2>/g)]
    expect(sections).toHaveLength(page.match(/<section/g)?.length ?? -1)
    for (const [, label, heading] of sections) expect(label).toBe(heading)
  })

  it('T-18 T-19 has nothing that a fragment of its URL could name, and browsers are told not to scroll to a text', async () => {
    expect(await pageOf()).not.toMatch(/\sid=|<a\s[^>]*name=/)
    expect((await browse()()).headers['document-policy']).toBe('force-load-at-top')
  })

  it('has no script, no inline style and loads nothing', async () => {
    expect(await pageOf()).not.toMatch(/<script|<link|<img|\sstyle=|\son[a-z]+=|javascript:/)
  })
})

it('INT-9 no search engine keeps a page, whose address has the reference in it', async () => {
  const noIndex = '<meta name="robots" content="noindex">'
  expect(await pageOf()).toContain(noIndex)
  expect((await browse()({ user: undefined })).body).toContain(noIndex)
})

it('tells browsers not to guess what a page is', async () => {
  expect((await browse()()).headers['x-content-type-options']).toBe('nosniff')
  expect((await browse()({ reference: 'other' })).headers['x-content-type-options']).toBe('nosniff')
})

describe('the content security policy', () => {
  it('INT-9 forbids everything but the style sheet of the page, by its hash', async () => {
    const response = await browse()()
    const policy = policyOf(response)
    const style = /<style>([\s\S]*)<\/style>/.exec(bodyText(response) ?? '')?.[1] ?? ''
    expect(policy['default-src']).toBe(`'none'`)
    expect(policy['frame-ancestors']).toBe(`'none'`)
    expect(policy['base-uri']).toBe(`'none'`)
    expect(policy['style-src']).toBe(`'sha256-${createHash('sha256').update(style).digest('base64')}'`)
  })

  it('lets the form lead on to any https address: browsers apply it to the finish redirect and to what follows', async () => {
    expect(policyOf(await browse()())['form-action']).toBe(`'self' https:`)
  })

  it.each([
    ['localhost:3000', 'http:'],
    ['127.0.0.1:8080', 'http:'],
    ['[::1]:9', 'http:'],
    ['com.example.app:', 'com.example.app:'],
  ])('lets the form lead to a finish at %s', async (finishHost, scheme) => {
    const response = await browse(fakeInteractions({ ...CONSENT, finishHost }))()
    expect(policyOf(response)['form-action']).toBe(`'self' https: ${scheme}`)
  })

  it.each(['localhost.example', '127.0.0.1.example', 'example:80', "x'; script-src *:"])(
    'is not fooled by a finish at %s',
    async (finishHost) => {
      const response = await browse(fakeInteractions({ ...CONSENT, finishHost }))()
      expect(policyOf(response)['form-action']).toBe(`'self' https:`)
    },
  )

  it('forbids forms on a page without one', async () => {
    expect(policyOf(await browse()({ reference: 'other' }))['form-action']).toBe(`'none'`)
  })
})

describe('the answer', () => {
  it.each([
    ['approve', 'approved'],
    ['deny', 'denied'],
  ])('INT-8 %s sends the browser on with 303', async (decision, state) => {
    const fake = fakeInteractions()
    const response = await browse(fake)({ form: `csrf=csrf-value&decision=${decision}` })
    expect(fake.state.decision).toBe(state)
    expect(response).toEqual({ status: 303, headers: { location: 'https://finish.example/?hash=h' } })
  })

  it.each([
    ['approve', 'You approved the request'],
    ['deny', 'You denied the request'],
  ])('%s ends on a page where the client asked for no redirect', async (decision, heading) => {
    const response = await browse(fakeInteractions(CONSENT, { isPolled: true }))({
      form: `csrf=csrf-value&decision=${decision}`,
    })
    expect(response.status).toBe(200)
    expect(response.body).toContain(`<h1>${heading}</h1>`)
    expect(response.body).toContain('You can close this window')
    // A tick beside "denied" would look as if something had been approved.
    expect(String(response.body).includes(TICK)).toBe(decision === 'approve')
  })

  const refused: readonly (readonly [string, Visit, number])[] = [
    ['an anti-CSRF value that is wrong', { form: 'csrf=other&decision=approve' }, 403],
    ['no anti-CSRF value', { form: 'decision=approve' }, 403],
    ['an unknown decision', { form: 'csrf=csrf-value&decision=maybe' }, 400],
    ['no decision', { form: 'csrf=csrf-value' }, 400],
    ['two decisions', { form: 'csrf=csrf-value&decision=approve&decision=deny' }, 400],
    [
      'another content type',
      { form: 'csrf=csrf-value&decision=approve', headers: { 'content-type': 'text/plain' } },
      415,
    ],
    ['no content type', { form: 'csrf=csrf-value&decision=approve', headers: {} }, 415],
    ['a form of 8193 bytes', { form: 'csrf=csrf-value&decision=approve&x='.padEnd(8193, 'x') }, 413],
    ['an unknown reference', { form: 'csrf=csrf-value&decision=approve', reference: 'other' }, 404],
    [
      'somebody who does not own the account',
      { form: 'csrf=csrf-value&decision=approve', user: { ...USER, walletAddresses: ['https://wallet.example/bob'] } },
      403,
    ],
    ['nobody', { form: 'csrf=csrf-value&decision=approve', user: undefined }, 401],
  ]

  it.each(refused)('INT-10 refuses %s and decides nothing', async (_, visit, status) => {
    const fake = fakeInteractions()
    const response = await browse(fake)(visit)
    expect(response.status).toBe(status)
    expect(response.headers['location']).toBeUndefined()
    expect(response.body).not.toContain(TICK)
    expect(fake.state.decision).toBeUndefined()
  })

  it.each<[string, Visit, string]>([
    ['a wrong anti-CSRF value', { form: 'csrf=other&decision=approve' }, 'We could not check your answer'],
    ['no decision', { form: 'csrf=csrf-value' }, 'There was no answer'],
    ['what is no form', { form: 'csrf=csrf-value&decision=approve', headers: {} }, 'This is not a form'],
    ['a form that is too large', { form: 'x'.repeat(9000) }, 'This form is too large'],
    ['nobody', { form: 'csrf=csrf-value&decision=approve', user: undefined }, 'Please log in'],
  ])('INT-10 of %s says what was wrong with it', async (_, visit, heading) => {
    expect((await browse()(visit)).body).toContain(`<h1>${heading}</h1>`)
  })

  it('INT-10 may be a form of 8192 bytes', async () => {
    const form = 'csrf=csrf-value&decision=approve&x='.padEnd(8192, 'x')
    expect((await browse()({ form })).status).toBe(303)
  })

  it.each<[string, Visit]>([
    ['of another request', { reference: 'other' }],
    ['with another decision', { form: 'csrf=csrf-value&decision=deny' }],
    ['with another anti-CSRF value', { form: 'csrf=other&decision=approve' }],
    ['of another session', { user: { ...USER, session: 'other' } }],
    ['of somebody with other accounts', { user: { ...USER, walletAddresses: [] } }],
    [
      'whose parts would read the same in one text',
      {
        form: 'csrf=csrf-value,session&decision=approve',
        user: { session: 'https://wallet.example/bob', walletAddresses: [ALICE] },
      },
    ],
  ])('INT-10 %s, while one is being taken, is judged by itself', async (_, second) => {
    const fake = fakeInteractions()
    fake.state.session = USER.session
    const { approve } = fake.interactions
    let finish = (): void => undefined
    const isFinishing = new Promise<void>((resolve) => {
      finish = resolve
    })
    fake.interactions.approve = async (...decision) => {
      const decided = await approve(...decision)
      await isFinishing
      return decided
    }
    let user: AuthenticatedUser = USER
    const page = consentPage({ walletName: 'Harbour Bank', authenticate: async () => user })
    const press = ({ form = 'csrf=csrf-value&decision=approve', reference = 'reference' }: Visit) =>
      page.respond({
        request: browserRequest('POST', FORM, form),
        reference,
        url: URL_OF_INTERACTION,
        interactions: fake.interactions,
      })
    const taken = press({})
    await expect.poll(() => fake.state.decision).toBe('approved')
    user = { ...USER, ...second.user }
    const judged = press(second)
    await setImmediate() // by then it would have joined the other one
    finish()
    expect((await taken).status).toBe(303)
    const { status, headers } = await judged
    expect([status < 400, headers['location']]).toEqual([false, undefined])
  })

  it.each(['; charset=utf-8', ' ;charset=utf-8'])('admits a content type with a parameter: "%s"', async (parameter) => {
    const headers = { 'content-type': `Application/X-WWW-Form-URLencoded${parameter}` }
    expect((await browse()({ form: 'csrf=csrf-value&decision=approve', headers })).status).toBe(303)
  })
})

describe('an interaction that cannot be shown', () => {
  it.each([
    ['unknown', 404, { reference: 'other' }, {}, 'We do not know this request'],
    ['expired', 410, {}, { isExpired: true }, 'This request has expired'],
    ['used', 410, {}, { decision: 'approved' }, 'This request was already answered'],
    ['opened in another session', 403, {}, { session: 'other' }, 'This request was opened elsewhere'],
  ] as const)('INT-3 INT-4 %s answers %d and does not redirect', async (_, status, visit, state, heading) => {
    const fake = fakeInteractions()
    Object.assign(fake.state, state)
    const response = await browse(fake)(visit)
    expect(response.status).toBe(status)
    expect(response.headers['location']).toBeUndefined()
    expect(response.headers['content-type']).toBe('text/html; charset=utf-8')
    expect(response.body).toContain(`<h1>${heading}</h1>`)
    expect(response.body).not.toContain('<form')
  })

  it('INT-10 is shown to nobody but the owner of the account', async () => {
    const response = await browse()({ user: { ...USER, walletAddresses: ['https://wallet.example/bob'] } })
    expect(response.status).toBe(403)
    expect(response.body).toContain('<h1>This request is about an account that is not yours</h1>')
    expect(response.body).not.toContain('Mia')
  })
})

describe('an account that is inactive, or gone', () => {
  it('RS-13 is what the page says, which never approves more than was asked', async () => {
    const fake = fakeInteractions()
    fake.interactions.approve = async () => ({ ok: false, reason: 'wider_access' })
    const response = await browse(fake)({ form: 'csrf=csrf-value&decision=approve' })
    expect(response.status).toBe(403)
    expect(response.body).toContain('This account cannot approve it at present')
    // It is open still, for when the account is active again.
    expect(response.body).toContain('<a class="button again" href="">Open the request again</a>')
    expect(response.body).not.toContain('more than was asked')
  })
})

describe('the way on', () => {
  const homeUrl = 'https://wallet.example/?a="b"&c'
  const linksOf = (response: HttpResponse) =>
    [...(bodyText(response) ?? '').matchAll(/<a [^>]*href="([^"]*)"/g)].map(([, href]) => href)
  const written = 'https://wallet.example/?a=&quot;b&quot;&amp;c'

  it('leads from every page to where the wallet begins, where it says so', async () => {
    expect(linksOf(await browse()({ homeUrl }))).toEqual([written])
    expect(linksOf(await browse()({ homeUrl, reference: 'other' }))).toEqual([written, written])
    expect(linksOf(await browse()({ homeUrl, user: undefined }))).toEqual([written, written])
  })

  it('leads nowhere where the wallet does not say', async () => {
    expect(linksOf(await browse()())).toEqual([])
    expect(linksOf(await browse()({ reference: 'other' }))).toEqual([])
  })

  it.each([
    ['a wrong anti-CSRF value', { form: 'csrf=other&decision=approve' }],
    ['no decision', { form: 'csrf=csrf-value' }],
    ['what is no form', { form: 'csrf=csrf-value&decision=approve', headers: {} }],
    ['a form that is too large', { form: 'x'.repeat(9000) }],
  ])('leads back to the request after %s, since it is still open', async (_, visit) => {
    // The address that the page itself has.
    expect(linksOf(await browse()(visit))).toEqual([''])
  })

  it.each<[string, Visit, object]>([
    ['is about somebody else’s account', { user: { ...USER, walletAddresses: [] } }, {}],
    ['belongs to another session', {}, { session: 'other' }],
    ['expired', {}, { isExpired: true }],
    ['nobody knows', { reference: 'other' }, {}],
    ['needs a login', { user: undefined }, {}],
  ])('does not lead back to a request that %s: it would show the same page', async (_, visit, state) => {
    const fake = fakeInteractions()
    Object.assign(fake.state, state)
    expect(linksOf(await browse(fake)(visit))).toEqual([])
  })

  it('does not lead back to a request that is over', async () => {
    const fake = fakeInteractions()
    const answer = { form: 'csrf=csrf-value&decision=approve' }
    await browse(fake)(answer)
    expect(linksOf(await browse(fake)(answer))).toEqual([])
  })
})

describe('where the wallet cannot answer', () => {
  it.each([
    [503, 'We cannot answer just now'],
    [500, 'Something went wrong on our side'],
  ] as const)('INT-9 a %d is a page, which leads back to the request', async (status, heading) => {
    const page = consentPage({ walletName: 'Harbour Bank', authenticate: async () => USER })
    const response = await page.failed?.(status)
    expect(response?.status).toBe(status)
    expect(response?.headers).toMatchObject({ 'content-type': 'text/html; charset=utf-8' })
    expect(response?.body).toContain(`<h1>${heading}</h1>`)
    expect(response?.body).toContain('href=""')
    expect(response?.body).not.toContain('<form')
  })
})

it('shows the name of a person as text', async () => {
  const { body } = await browse()({ user: { ...USER, name: '<b>&' } })
  expect(body).toContain('Signed in as <bdi>&lt;b&gt;&amp;</bdi>')
})

it('shows no name for a person without one', async () => {
  const { status, body } = await browse()({ user: { ...USER, name: null } })
  expect([status, String(body).includes('Signed in')]).toEqual([200, false])
})

describe('a browser without a login', () => {
  it('goes to the login that the wallet names, and the interaction stays unopened', async () => {
    const fake = fakeInteractions()
    const response = await browse(fake)({ user: { redirect: '/login?next=%2F' } })
    expect(response).toEqual({ status: 303, headers: { location: '/login?next=%2F' } })
    expect(fake.state.session).toBeUndefined()
  })

  it('gets 401 where the wallet names none', async () => {
    const fake = fakeInteractions()
    expect((await browse(fake)({ user: undefined })).status).toBe(401)
    expect((await browse(fake)({ user: null })).status).toBe(401)
    expect(fake.state.session).toBeUndefined()
  })
})

describe('a consent screen of the wallet’s own', () => {
  it('gets the browser by 303', async () => {
    const response = await consentRedirect({
      url: (reference) => `https://wallet.example/consent/${reference}`,
    }).respond({
      request: browserRequest('GET', {}),
      reference: 'reference',
      url: URL_OF_INTERACTION,
      interactions: fakeInteractions().interactions,
    })
    expect(response).toEqual({
      status: 303,
      headers: { location: 'https://wallet.example/consent/reference' },
    })
  })

  it('T-26 takes a reference that anybody may have written to no other place and into no other header', async () => {
    const { headers } = await consentRedirect({
      url: (reference) => `https://wallet.example/consent/${reference}`,
    }).respond({
      request: browserRequest('GET', {}),
      reference: '../x?\r\nset-cookie: a=b#',
      url: URL_OF_INTERACTION,
      interactions: fakeInteractions().interactions,
    })
    expect(headers['location']).toBe('https://wallet.example/consent/..%2Fx%3F%0D%0Aset-cookie%3A%20a%3Db%23')
  })
})
