import { randomBytes, timingSafeEqual } from 'node:crypto'

/** The person of the sandbox, who owns every account in it. The names are those of the fields of the login form. */
export const CREDENTIALS: Readonly<Record<string, string>> = { username: 'sandbox', password: 'sandbox' }

/** Who is logged in, in which browser. Forgotten when the sandbox stops. */
export interface Logins {
  /** The session of a browser by its `Cookie` header. */
  sessionOf(cookieHeader: string | undefined): string | undefined
  /** The `Set-Cookie` of a new session, if the form has the right credentials. */
  logIn(form: URLSearchParams): string | undefined
  /** The `Set-Cookie` that ends a session. */
  logOut(cookieHeader: string | undefined): string
}

function isEqualText(a: string, b: string): boolean {
  const [left, right] = [Buffer.from(a), Buffer.from(b)]
  return left.length === right.length && timingSafeEqual(left, right)
}

/** Cookies belong to a host, whatever its port, so `port` in their name keeps the sandboxes of one machine apart. */
export function createLogins(port: number): Logins {
  const name = `sandbox_${port}`
  const sessions = new Set<string>()

  const sessionOf = (cookieHeader = ''): string | undefined =>
    cookieHeader
      .split(';')
      .map((pair) => pair.trim().split('='))
      .find(([key, value]) => key === name && value !== undefined && sessions.has(value))?.[1]

  const cookie = (value: string): string => `${name}=${value}; Path=/; HttpOnly; SameSite=Lax`

  return {
    sessionOf,
    logIn(form) {
      if (!Object.entries(CREDENTIALS).every(([field, value]) => isEqualText(form.get(field) ?? '', value)))
        return undefined
      const session = randomBytes(24).toString('base64url')
      sessions.add(session)
      return cookie(session)
    },
    logOut(cookieHeader) {
      const session = sessionOf(cookieHeader)
      if (session !== undefined) sessions.delete(session)
      return `${cookie('')}; Max-Age=0`
    },
  }
}

/** Where to go after the login: a URL of this origin, whatever `next` says. */
export function localTarget(next: string | null, origin: string): string {
  const home = `${origin}/`
  if (next === null || !URL.canParse(next, home)) return home
  const url = new URL(next, home)
  // The whole URL, since a path alone may begin with two slashes and mean another host.
  return next.startsWith('/') && url.origin === origin ? url.href : home
}
