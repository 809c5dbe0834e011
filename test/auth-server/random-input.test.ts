import { alterRequest, type InMemoryRequest } from 'open-payments-server/testing'
import { describe, expect, it } from 'vitest'
import { AUTH, BASE, BOB } from '../support/test-wallet.ts'
import {
  approvedGrant,
  authWallet,
  CONSENT_REQUEST,
  OUTGOING,
  PLAIN_REQUEST,
  resume,
  rotate,
  unchecked,
} from './auth-wallet.ts'

const ODD: readonly unknown[] = [
  null,
  true,
  0,
  -1,
  1e308,
  '',
  ' ',
  'x',
  '\ud800',
  '\u0000',
  '__proto__',
  'https://',
  'https://[::1',
  'https://127.0.0.1/a',
  `${BASE}/alice/%2e%2e/bob`,
  'a'.repeat(5_000),
  [],
  [[]],
  {},
  { toString: 1 },
  JSON.parse('{"__proto__":null,"constructor":null}'),
]

/** Every value that one odd value at one place of `whole`, or one place less, makes. */
function* spoilt(whole: unknown): Generator<unknown> {
  yield* ODD
  if (typeof whole !== 'object' || whole === null) return
  for (const name of Object.keys(whole)) {
    const part: unknown = Reflect.get(whole, name)
    const copy = (): object => structuredClone(whole)
    for (const value of spoilt(part)) {
      const changed = copy()
      Reflect.set(changed, name, value)
      yield changed
    }
    const less = copy()
    Reflect.deleteProperty(less, name)
    yield less
  }
}

describe('whatever a client sends', () => {
  it('1.2 an odd continuation is a poll or refused, and takes nothing from the grant', async () => {
    const wallet = unchecked(await authWallet())
    const { pending, interactRef } = await approvedGrant(wallet)
    let wrong = 0
    for (const body of spoilt({ interact_ref: 'x' })) {
      const isReference =
        typeof body === 'object' && body !== null && typeof Reflect.get(body, 'interact_ref') === 'string'
      // Texts are references, and of those the sixth wrong one would end the grant.
      if (isReference && ++wrong > 5) continue
      const { status, body: answer } = await resume(wallet, pending, body)
      expect(['invalid_request', 'invalid_continuation', 'request_denied']).toContain(answer.error.code)
      expect([400, 401, 404]).toContain(status)
    }
    expect((await resume(wallet, pending, { interact_ref: interactRef })).status).toBe(200)
    expect(wallet.events.filter(({ type }) => type === 'fault')).toEqual([])
  })

  it('an odd token or id is refused, never a fault', async () => {
    const wallet = await authWallet()
    const grant = await wallet.ask(PLAIN_REQUEST)
    const tokens = ['a'.repeat(9_000), '=', '==', '~', '-._~+/', 'A=']
    for (const token of tokens) {
      expect([401, 404]).toContain((await rotate(wallet, grant, { token })).status)
      expect([401, 404]).toContain((await resume(wallet, grant, undefined, { token })).status)
    }
    const { value: token } = grant.body.access_token
    for (const id of [
      '%00',
      '%2F',
      '%F0%9F%92%A9',
      'a'.repeat(4_000),
      '__proto__',
      '0'.repeat(31),
      '%',
      '%e0%a4',
      'x?y=1',
    ]) {
      for (const collection of ['continue', 'token']) {
        const url = `${AUTH}/${collection}/${id}`
        expect([401, 404]).toContain((await wallet.send('POST', url, { token })).status)
      }
    }
    expect(wallet.events.filter(({ type }) => type === 'fault')).toEqual([])
    expect((await rotate(wallet, grant)).status).toBe(200)
  })

  it('SIG-5 a second signature, of somebody else and wrong, does no harm', async () => {
    const wallet = await authWallet()
    const alter = (request: InMemoryRequest): InMemoryRequest => {
      const [input = ''] = request.headerLines('signature-input')
      const [signature = ''] = request.headerLines('signature')
      const other = input.replace(/^sig1/, 'other').replace(/keyid="[^"]*"/, 'keyid="unknown"')
      return alterRequest(request, {
        headers: {
          'signature-input': [`${other}, ${input}`],
          signature: [`other=:${'A'.repeat(86)}==:, ${signature}`],
        },
      })
    }
    expect((await wallet.ask(PLAIN_REQUEST, { alter })).status).toBe(200)
    expect(
      (
        await wallet.ask(
          {
            ...PLAIN_REQUEST,
            access_token: { access: [{ type: 'incoming-payment', actions: ['create'], identifier: BOB }] },
          },
          { alter },
        )
      ).status,
    ).toBe(200)
  })

  it('T-36 1 MiB is refused for its size, at once', async () => {
    const wallet = await authWallet()
    const body = JSON.stringify({ ...PLAIN_REQUEST, client: `https://shop.example/${'a/'.repeat(500_000)}` })
    const before = performance.now()
    const { status } = await wallet.send('POST', AUTH, { body })
    expect(status).toBe(413)
    expect(performance.now() - before).toBeLessThan(2_000)
  })

  it('T-24 T-36 a rotation with 64 KiB of blanks is read quickly', async () => {
    const wallet = await authWallet()
    const grant = await wallet.ask(PLAIN_REQUEST)
    const blanks = ' '.repeat(65_535)
    const started = process.cpuUsage()
    for (const body of [`${blanks}x`, `x${blanks}`, `${blanks}{`, `\t${blanks.slice(1)}x`, `{${blanks.slice(2)}}x`])
      await wallet.expectRefusal(400, 'invalid_rotation', () => rotate(wallet, grant, { body }))
    // Processor time, which a busy machine does not stretch: a tenth of a second; a quadratic reader takes many.
    expect(process.cpuUsage(started).user).toBeLessThan(1_000_000)
  })

  it('T-24 T-25 the largest identifiers, receivers and intervals that fit are read quickly', async () => {
    const wallet = await authWallet()
    const long = `https://x/${'incoming-payments/'.repeat(3_000)}`
    const heavy = [
      { ...OUTGOING, identifier: long },
      { ...OUTGOING, limits: { receiver: long } },
      { ...OUTGOING, limits: { interval: `R/${'1'.repeat(60_000)}` } },
      { ...OUTGOING, limits: { interval: 'R999999999/1970-01-01T00:00:00Z/PT60S' } },
      { ...OUTGOING, limits: { interval: `R/1970-01-01T00:00:00Z/P${'9'.repeat(90)}Y` } },
    ]
    for (const access of heavy) {
      const before = performance.now()
      const { status } = await wallet.ask({ ...CONSENT_REQUEST, access_token: { access: [access] } })
      expect([200, 400]).toContain(status)
      expect(performance.now() - before).toBeLessThan(1_000)
    }
  })
})
