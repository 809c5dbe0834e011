import { describe, expect, it } from 'vitest'
import { CREDENTIALS, createLogins, localTarget } from '../../examples/sandbox/login.ts'

const right = new URLSearchParams(CREDENTIALS)
const pairOf = (cookie = '') => cookie.split(';')[0] ?? ''

describe('a login', () => {
  it('INT-10 gives each browser a session of its own, in a cookie that no script reads', () => {
    const logins = createLogins(4000)
    const [one = '', other = ''] = [logins.logIn(right), logins.logIn(right)]
    expect(one).toMatch(/; HttpOnly/)
    expect(one).toMatch(/; SameSite=Lax/)
    expect(logins.sessionOf(pairOf(one))).toBeDefined()
    expect(logins.sessionOf(pairOf(one))).not.toBe(logins.sessionOf(pairOf(other)))
  })

  it('finds its cookie among others', () => {
    const logins = createLogins(4000)
    const cookie = pairOf(logins.logIn(right))
    expect(logins.sessionOf(`a=b; ${cookie}; c=d`)).toBe(cookie.split('=')[1])
  })

  it.each([
    ['a wrong password', { ...CREDENTIALS, password: 'sandboy' }],
    ['a longer password', { ...CREDENTIALS, password: 'sandbox2' }],
    ['a wrong user name', { ...CREDENTIALS, username: 'admin' }],
    ['an empty form', {}],
  ])('is refused with %s', (_, form: Record<string, string>) => {
    expect(createLogins(4000).logIn(new URLSearchParams(form))).toBeUndefined()
  })

  it.each([undefined, '', 'sandbox_4000=', 'sandbox_4000=guess', 'sandbox_4000'])(
    'is not made by the cookie header %j',
    (header) => {
      expect(createLogins(4000).sessionOf(header)).toBeUndefined()
    },
  )

  it('ends with the logout', () => {
    const logins = createLogins(4000)
    const cookie = pairOf(logins.logIn(right))
    expect(logins.logOut(cookie)).toContain('Max-Age=0')
    expect(logins.sessionOf(cookie)).toBeUndefined()
  })

  it('of one sandbox does not replace that of another on the same machine', () => {
    expect(pairOf(createLogins(4000).logIn(right)).split('=')[0]).not.toBe(
      pairOf(createLogins(4001).logIn(right)).split('=')[0],
    )
  })
})

describe('the way back from the login', () => {
  const origin = 'http://localhost:4000'

  it('T-17 leads to a path of this server', () => {
    expect(localTarget('/auth/interact/1?a=b', origin)).toBe(`${origin}/auth/interact/1?a=b`)
  })

  it.each([
    null,
    '',
    'auth',
    'https://evil.example/',
    '//evil.example/',
    '/\\evil.example',
    '/\t/evil.example',
    '\\\\evil.example',
    'javascript:alert(1)',
    ' //evil.example',
    'http://localhost:4001/',
  ])('T-17 leads home instead of to %j', (next) => {
    expect(localTarget(next, origin)).toBe(`${origin}/`)
  })

  it('T-17 names its own host also where the path begins with two slashes', () => {
    expect(localTarget('/.//evil.example', origin)).toBe(`${origin}//evil.example`)
  })
})
