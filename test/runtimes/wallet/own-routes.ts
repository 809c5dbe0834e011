/** A request for the wallet itself, as far as its own routes look at it. */
export interface OwnRequest {
  readonly method: string
  /** The raw `/path?query`. */
  readonly target: string
  readonly cookie: string
  readonly body: string
}

/** What the wallet itself answers; a field may stand in several lines. */
export interface OwnAnswer {
  readonly status: number
  readonly headers: readonly (readonly [string, string])[]
  readonly body: string
}

const LOGIN_FORM = '<form method="post"><input name="password" type="password"></form>'

/** What a wallet answers for whatever is not for Open Payments: a login, an account page, and one that takes what is sent. */
export function answerOwnRoute({ method, target, cookie, body }: OwnRequest): OwnAnswer {
  const { pathname, searchParams } = new URL(target, 'http://wallet.invalid')
  switch (`${method} ${pathname}`) {
    case 'GET /login':
      return { status: 200, headers: [['content-type', 'text/html']], body: LOGIN_FORM }
    case 'POST /login': {
      const session = new URLSearchParams(body).get('password') === 'alice' ? 'alice' : ''
      const cookies = [`session=${session}; Path=/; HttpOnly`, 'greeted=yes; Path=/'] as const
      const lines = cookies.map((line) => ['set-cookie', line] as const)
      return { status: 303, headers: [['location', searchParams.get('next') ?? '/'], ...lines], body: '' }
    }
    case 'GET /account':
      return { status: 200, headers: [], body: `the account of ${sessionOf(cookie) ?? 'nobody'}` }
    case 'POST /op/notes':
      return { status: 201, headers: [], body: `noted: ${body}` }
    default:
      return { status: 404, headers: [], body: `the wallet itself has no ${method} ${target}` }
  }
}

/** Who is logged in, by the `Cookie` header. */
export function sessionOf(cookie: string): string | undefined {
  return /(?:^|; )session=(\w+)/.exec(cookie)?.[1]
}
