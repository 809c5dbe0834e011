import { randomBytes, timingSafeEqual } from 'node:crypto'
import type { ResourceOwner } from 'open-payments-server'

/** A stand-in for the wallet's own login: what matters here is the session. For passwords see ../users-in-postgres. */
export interface Sessions {
  /** Who is logged in, as Open Payments wants to know it. */
  find(cookieHeader: string | undefined): ResourceOwner | undefined
  /** The `Set-Cookie` of a new session in place of the present one; `undefined` if the name or the password is wrong. */
  logIn(name: string, password: string, cookieHeader: string | undefined): string | undefined
  /** The `Set-Cookie` that ends a session. */
  logOut(cookieHeader: string | undefined): string
}

/** A person, and the wallet addresses that are theirs. */
export interface Person {
  readonly name: string
  readonly password: string
  readonly walletAddresses: readonly string[]
}

/** Sessions in memory. With `isSecure` the cookie is for https only, and no other host can set it. */
export function createSessions(people: readonly Person[], isSecure: boolean): Sessions {
  const sessions = new Map<string, readonly string[]>()
  const cookieName = isSecure ? '__Host-session' : 'session'
  // Strict: only requests from our own pages carry it. The page itself needs no cookie.
  const setCookie = (value: string, more = ''): string =>
    `${cookieName}=${value}; Path=/; HttpOnly; SameSite=Strict${isSecure ? '; Secure' : ''}${more}`
  const idOf = (cookieHeader = ''): string =>
    cookieHeader
      .split('; ')
      .find((pair) => pair.startsWith(`${cookieName}=`))
      ?.slice(cookieName.length + 1) ?? ''
  return {
    find(cookieHeader) {
      const session = idOf(cookieHeader)
      const walletAddresses = sessions.get(session)
      return walletAddresses && { session, walletAddresses }
    },
    logIn(name, password, cookieHeader) {
      const person = people.find((one) => one.name === name && isEqualText(one.password, password))
      if (person === undefined) return undefined
      // A fresh id, whatever the browser came with: nobody can plant an id and wait for somebody to log in with it.
      sessions.delete(idOf(cookieHeader))
      const session = randomBytes(32).toString('base64url')
      sessions.set(session, person.walletAddresses)
      return setCookie(session)
    },
    logOut(cookieHeader) {
      sessions.delete(idOf(cookieHeader))
      return setCookie('', '; Max-Age=0')
    },
  }
}

function isEqualText(a: string, b: string): boolean {
  const [left, right] = [Buffer.from(a), Buffer.from(b)]
  return left.length === right.length && timingSafeEqual(left, right)
}
