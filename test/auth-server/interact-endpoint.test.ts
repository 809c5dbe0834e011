import type { Consent, HttpRequest, HttpResponse } from 'open-payments-server'
import { memoryStorage } from 'open-payments-server/storage/memory'
import { describe, expect, it } from 'vitest'
import { ALICE, AUTH, OWNER, referenceOf } from '../support/test-wallet.ts'
import { type AuthWallet, authWallet, CONSENT_REQUEST } from './auth-wallet.ts'

type Exchange = Parameters<Consent['respond']>[0]

function browserRequest(method: string, target: string, body = ''): HttpRequest {
  const bytes = new TextEncoder().encode(body)
  return {
    method,
    target,
    headerLines: (name) => (name === 'cookie' ? ['session=1'] : name === 'host' ? ['evil.example'] : []),
    bytes: async (limit) => (bytes.length > limit ? undefined : bytes),
    source: '192.0.2.7',
  }
}

interface Screen {
  readonly wallet: AuthWallet
  readonly exchanges: Exchange[]
}

async function screen(answer: HttpResponse): Promise<Screen> {
  const exchanges: Exchange[] = []
  const consent: Consent = {
    respond: async (exchange) => {
      exchanges.push(exchange)
      return answer
    },
  }
  return { wallet: await authWallet({ consent }), exchanges }
}

const PAGE: HttpResponse = { status: 200, headers: { 'content-type': 'text/html' }, body: '<p>hello</p>' }

describe('the interaction URL', () => {
  it('INT-1 carries neither the nonce of the server nor anything to show', async () => {
    const { wallet } = await screen(PAGE)
    const pending = await wallet.ask(CONSENT_REQUEST)
    expect(pending.body.interact.redirect).toMatch(/^https:\/\/auth\.wallet\.example\/interact\/[0-9a-f]{32}$/)
    expect(pending.body.interact.redirect).not.toContain(pending.body.interact.finish)
    const again = await wallet.ask(CONSENT_REQUEST)
    expect(again.body.interact.redirect).not.toBe(pending.body.interact.redirect)
    expect(again.body.interact.finish).not.toBe(pending.body.interact.finish)
  })

  it.each(['GET', 'POST'])('hands a %s to the consent screen of the wallet, with its own URL', async (method) => {
    const { wallet, exchanges } = await screen(PAGE)
    const reference = referenceOf(await wallet.ask(CONSENT_REQUEST))
    const body = method === 'POST' ? 'csrf=1&decision=approve' : ''
    const answer = await wallet.sendRaw(browserRequest(method, `/interact/${reference}?name=Your+Bank`, body))
    expect([answer.status, answer.text]).toEqual([200, '<p>hello</p>'])
    const [exchange] = exchanges
    expect(exchange).toMatchObject({ reference, url: `${AUTH}/interact/${reference}` })
    // Where a login has to lead back to.
    expect(exchange?.request).toMatchObject({ method, target: `/interact/${reference}?name=Your+Bank` })
    expect(exchange?.interactions).toBe(wallet.openPayments.interactions)
    expect(exchange?.request.headerLines('cookie')).toEqual(['session=1'])
    expect(exchange?.request.source).toBe('192.0.2.7')
    expect(new TextDecoder().decode(await exchange?.request.bytes(body.length))).toBe(body)
    if (method === 'POST') expect(await exchange?.request.bytes(body.length - 1)).toBeUndefined()
  })

  it('INT-9 T-18 T-44 adds what keeps the page from frames, caches, referrers and scripts of others', async () => {
    const headers = {
      'Content-Type': 'text/html',
      'Cache-Control': 'public, max-age=3600',
      'Referrer-Policy': 'unsafe-url',
      'X-Frame-Options': 'ALLOWALL',
      'Content-Security-Policy': "default-src 'none'",
      'Access-Control-Allow-Origin': '*',
      'Access-Control-Allow-Credentials': 'true',
      'Set-Cookie': 'a=b',
    }
    const { wallet } = await screen({ ...PAGE, headers })
    expect((await wallet.sendRaw(browserRequest('GET', '/interact/x'))).headers).toEqual({
      'content-type': 'text/html',
      'cache-control': 'no-store',
      'referrer-policy': 'no-referrer',
      'x-frame-options': 'DENY',
      'content-security-policy': "default-src 'none', frame-ancestors 'none'",
      'set-cookie': 'a=b',
    })
  })

  it.each([
    "frame-ancestors 'self'",
    "frame-ancestors 'none' https://evil.example",
    "default-src 'self'; frame-ancestors *",
  ])('INT-9 forbids frames beside a policy that would allow some: %s', async (policy) => {
    const { wallet } = await screen({ ...PAGE, headers: { 'Content-Security-Policy': policy } })
    const { headers } = await wallet.sendRaw(browserRequest('GET', '/interact/x'))
    expect(headers['content-security-policy']).toBe(`${policy}, frame-ancestors 'none'`)
  })

  it('INT-9 forbids frames where the wallet has no policy', async () => {
    const { wallet } = await screen(PAGE)
    const { headers } = await wallet.sendRaw(browserRequest('GET', '/interact/x'))
    expect(headers['content-security-policy']).toBe("frame-ancestors 'none'")
  })

  it('INT-8 hands a redirect on, with the same protection', async () => {
    const location = 'https://shop.example/done?hash=x'
    const { wallet } = await screen({ status: 303, headers: { location } })
    const answer = await wallet.sendRaw(browserRequest('POST', '/interact/x', 'a=b'))
    expect([answer.status, answer.text]).toEqual([303, undefined])
    expect(answer.headers).toMatchObject({ location, 'referrer-policy': 'no-referrer', 'cache-control': 'no-store' })
  })

  it.each([
    ['GET', 302],
    ['GET', 307],
    ['POST', 301],
    ['POST', 302],
    ['POST', 307],
    ['POST', 308],
  ])('INT-8 a redirect after a %s is never %i, which might bring the form along', async (method, status) => {
    const { wallet } = await screen({ status, headers: { location: 'https://shop.example/done' } })
    expect((await wallet.sendRaw(browserRequest(method, '/interact/x'))).status).toBe(303)
  })

  it.each([300, 304])('INT-8 a %i, which no browser follows, stays what it is', async (status) => {
    const { wallet } = await screen({ status, headers: {} })
    expect((await wallet.sendRaw(browserRequest('GET', '/interact/x'))).status).toBe(status)
  })

  it('INT-9 no error under its path is kept, framed, or tells where it was', async () => {
    const failing = await authWallet({ consent: { respond: () => Promise.reject(new Error('secret detail')) } })
    const { wallet } = await screen(PAGE)
    const answers = [
      await failing.sendRaw(browserRequest('GET', '/interact/x')),
      await wallet.sendRaw(browserRequest('GET', '/interact/x', 'a=b')),
      await wallet.sendRaw(browserRequest('PUT', '/interact/x')),
      await wallet.sendRaw(browserRequest('GET', '/interact')),
      await wallet.sendRaw(browserRequest('GET', '/interact/x/y')),
      await wallet.sendRaw(browserRequest('POST', '/interact/x', 'x'.repeat(65_537))),
    ]
    expect(answers.map(({ status }) => status)).toEqual([500, 400, 405, 404, 404, 413])
    for (const { headers } of answers) {
      expect(headers).toMatchObject({
        'cache-control': 'no-store',
        'referrer-policy': 'no-referrer',
        'x-frame-options': 'DENY',
        'content-security-policy': "frame-ancestors 'none'",
      })
      expect(Object.keys(headers).filter((name) => name.startsWith('access-control-'))).toEqual([])
    }
  })

  it('INT-9 a store that cannot be reached while the page is made is a 503 with the same protection', async () => {
    const inner = memoryStorage()
    const storage = { ...inner, get: () => Promise.reject(new Error('connection lost')) }
    const consent: Consent = {
      respond: async ({ reference, interactions }) => {
        await interactions.find(reference, OWNER)
        return PAGE
      },
    }
    const wallet = await authWallet({ storage, consent })
    const { status, headers } = await wallet.sendRaw(browserRequest('GET', '/interact/x'))
    expect(status).toBe(503)
    expect(headers).toMatchObject({ 'cache-control': 'no-store', 'referrer-policy': 'no-referrer' })
  })

  describe('where the screen fails', () => {
    const page = (status: number): HttpResponse => ({ status, headers: {}, body: `<p>sorry, ${status}</p>` })
    const away: Consent['respond'] = async ({ reference, interactions }) => {
      await interactions.find(reference, OWNER)
      return PAGE
    }
    const broken: Consent['respond'] = () => Promise.reject(new Error('secret detail'))

    it.each([
      ['a storage that is away', away, 503, 'unavailable'],
      ['a screen that is broken', broken, 500, 'unexpected'],
    ] as const)('%s is a page of the wallet to the person, and told as ever', async (_, respond, status, condition) => {
      const storage = { ...memoryStorage(), get: () => Promise.reject(new Error('connection lost')) }
      const wallet = await authWallet({ storage, consent: { respond, failed: async (known) => page(known) } })
      const answer = await wallet.sendRaw(browserRequest('GET', '/interact/x'))
      expect([answer.status, answer.text]).toEqual([status, `<p>sorry, ${status}</p>`])
      expect(answer.headers).toMatchObject({ 'cache-control': 'no-store', 'x-frame-options': 'DENY' })
      expect(answer.headers['retry-after']).toBe(status === 503 ? '1' : undefined)
      expect(wallet.events).toMatchObject([{ type: 'fault' }, { type: 'request', status, condition }])
    })

    it('INT-9 a failure of ours that no repeat helps against is the page for what is broken', async () => {
      const respond: Consent['respond'] = async ({ reference, interactions }) => {
        const found = await interactions.find(reference, OWNER)
        if (!found.ok) throw new Error(found.reason)
        await interactions.approve(reference, { ...OWNER, csrf: found.csrf, access: 'all' })
        return PAGE
      }
      const wallet = await authWallet({ consent: { respond, failed: async (known) => page(known) } })
      const reference = referenceOf(await wallet.ask(CONSENT_REQUEST))
      wallet.directory.set(ALICE, { account: '', assetCode: 'USD', assetScale: 2 })
      const answer = await wallet.sendRaw(browserRequest('GET', `/interact/${reference}`))
      expect([answer.status, answer.text]).toEqual([500, '<p>sorry, 500</p>'])
      expect(wallet.events.at(-1)).toMatchObject({ type: 'request', status: 500, condition: 'unexpected' })
    })

    it.each([
      ['rejects', () => Promise.reject(new Error('another detail'))],
      ['is no response', async () => JSON.parse('{ "status": 500 }')],
      [
        'throws',
        () => {
          throw new Error('another detail')
        },
      ],
    ])('and its page of that %s, the answer is the error of the server', async (_, failed) => {
      const wallet = await authWallet({ consent: { respond: broken, failed } })
      const answer = await wallet.sendRaw(browserRequest('GET', '/interact/x'))
      expect([answer.status, answer.body.error.code]).toEqual([500, 'request_denied'])
      expect(wallet.events.find(({ type }) => type === 'fault')).toMatchObject({ message: 'secret detail' })
    })
  })

  it('EMB-1 a form is capped like every body, and not shown to the wallet then', async () => {
    const { wallet, exchanges } = await screen(PAGE)
    const answer = await wallet.sendRaw(browserRequest('POST', '/interact/x', 'x'.repeat(65_537)))
    expect(answer.status).toBe(413)
    expect(exchanges).toEqual([])
  })

  it('DIG-8 a GET has no body', async () => {
    const { wallet, exchanges } = await screen(PAGE)
    expect((await wallet.sendRaw(browserRequest('GET', '/interact/x', 'a=b'))).status).toBe(400)
    expect(exchanges).toEqual([])
  })

  it('answers no other method, and nothing below or beside it', async () => {
    const { wallet, exchanges } = await screen(PAGE)
    const put = await wallet.sendRaw(browserRequest('PUT', '/interact/x'))
    expect([put.status, put.headers['allow']]).toEqual([405, 'GET, POST'])
    for (const target of ['/interact', '/interact/', '/interact/x/y', '/interact/../interact/x', '/interact/%zz']) {
      expect((await wallet.sendRaw(browserRequest('GET', target))).status).toBe(404)
    }
    expect(exchanges).toEqual([])
  })

  it('writes a reference into the URL of the page so that it stays one segment', async () => {
    const { wallet, exchanges } = await screen(PAGE)
    await wallet.sendRaw(browserRequest('GET', '/interact/%22%3E%3Cscript%3E%2F..%2F'))
    expect(exchanges[0]).toMatchObject({
      reference: '"><script>/../',
      url: `${AUTH}/interact/%22%3E%3Cscript%3E%2F..%2F`,
    })
  })

  it('a consent screen that fails is a 500 without detail', async () => {
    const wallet = await authWallet({ consent: { respond: () => Promise.reject(new Error('secret detail')) } })
    const answer = await wallet.sendRaw(browserRequest('GET', '/interact/x'))
    expect(answer.status).toBe(500)
    expect(answer.text).not.toContain('secret detail')
  })
})
