import type { IncomingMessage, RequestListener, ServerResponse } from 'node:http'
import { createOpenPayments, type Ledger, type LiveGrant, type OpenPayments, type Storage } from 'open-payments-server'
import { consentPage } from 'open-payments-server/consent'
import { toNodeListener } from 'open-payments-server/node'
import { homePage, loginPage } from './pages.ts'
import type { People } from './people.ts'

/** What the wallet is made of; `url` is its public URL. */
export interface Parts {
  readonly url: string
  readonly secrets: readonly string[]
  readonly people: People
  readonly storage: Storage
  readonly ledger: Ledger
}

/** The wallet: Open Payments for its customers, and its own pages. */
export function createWallet({ url, secrets, people, storage, ledger }: Parts): {
  readonly openPayments: OpenPayments
  readonly listener: RequestListener
} {
  const isLocal = url.startsWith('http://localhost:')
  const cookieName = isLocal ? 'session' : '__Host-session' // `__Host-`: https only, and no other host can set it
  // Lax: the browser comes to the consent page from the client's site, and must still be logged in there.
  const setCookie = (token: string): string =>
    `${cookieName}=${token}; Path=/; HttpOnly; SameSite=Lax${isLocal ? '' : '; Secure'}${token === '' ? '; Max-Age=0' : ''}`
  const tokenOf = (cookies = ''): string =>
    cookies
      .split(/; */)
      .find((pair) => pair.startsWith(`${cookieName}=`))
      ?.slice(cookieName.length + 1) ?? ''

  const openPayments = createOpenPayments({
    authServer: `${url}/auth`,
    resourceServer: url,
    secrets,
    storage,
    ledger,
    walletAddresses: { find: people.findWalletAddress },
    consent: consentPage({
      walletName: 'Example Wallet',
      homeUrl: `${url}/`,
      authenticate: async (request) =>
        (await people.find(tokenOf(request.headerLines('cookie').join('; ')))) ?? {
          redirect: `/login?next=${encodeURIComponent(request.target)}`,
        },
    }),
    settings: { policies: { loopbackHttp: isLocal } },
  })

  const answer = async (request: IncomingMessage, response: ServerResponse): Promise<void> => {
    const { pathname, searchParams } = new URL(`${url}${request.url}`)
    const token = tokenOf(request.headers.cookie)
    const redirect = (location: string, headers = {}) => void response.writeHead(303, { location, ...headers }).end()
    // Browsers say which site a form comes from. Another site could log its visitors in as somebody else.
    const isForeign = request.method === 'POST' && request.headers['sec-fetch-site'] !== 'same-origin'
    if (isForeign) return send(response, 403, loginPage('Please log in here'))
    const form = request.method === 'POST' ? await readForm(request) : new URLSearchParams()
    switch (`${request.method} ${pathname}`) {
      case 'GET /login':
        return send(response, 200, loginPage('Log in'))
      case 'POST /login': {
        const fresh = await people.logIn(form.get('name') ?? '', form.get('password') ?? '')
        if (fresh === undefined) return send(response, 401, loginPage('Name and password do not fit'))
        // Each login has a token of its own: one that somebody has planted in this browser is worth nothing.
        await people.logOut(token)
        // To a consent page or home, and to no other site, whatever the link says.
        const next = /^\/auth\/interact\/[\w-]+$/.exec(searchParams.get('next') ?? '')?.[0] ?? '/'
        return redirect(next, { 'set-cookie': setCookie(fresh) })
      }
      case 'POST /logout':
        await people.logOut(token)
        return redirect('/login', { 'set-cookie': setCookie('') })
      case 'POST /revoke': {
        const person = await people.find(token)
        // This takes effect only if the grant is about an account of this person.
        for (const address of person?.walletAddresses ?? [])
          await openPayments.grants.revoke(address, form.get('grant') ?? '')
        return redirect('/')
      }
      case 'GET /': {
        const person = await people.find(token)
        if (person === undefined) return redirect('/login')
        const grants = await Promise.all(person.walletAddresses.map((address) => listAll(openPayments, address)))
        return send(response, 200, homePage(person.name, grants.flat()))
      }
    }
    return send(response, 404, loginPage('There is nothing here'))
  }

  const next: RequestListener = (request, response) => {
    answer(request, response).catch((error: unknown) => {
      console.error(error)
      if (!response.headersSent) response.writeHead(500)
      response.end()
    })
  }
  return { openPayments, listener: toNodeListener(openPayments, { next }) }
}

/** Every live grant on a wallet address, read page by page: a grant that is not shown cannot be revoked. */
async function listAll({ grants }: Pick<OpenPayments, 'grants'>, walletAddress: string): Promise<readonly LiveGrant[]> {
  const live: LiveGrant[] = []
  for (;;) {
    const page = await grants.list(walletAddress, { limit: 100, after: live.at(-1)?.id })
    if (page.length === 0) return live
    live.push(...page)
  }
}

function send(response: ServerResponse, status: number, body: string): void {
  const policy = "default-src 'none'; form-action 'self'; base-uri 'none'; frame-ancestors 'none'"
  const headers = { 'content-type': 'text/html; charset=utf-8', 'cache-control': 'no-store' }
  response.writeHead(status, { ...headers, 'content-security-policy': policy }).end(body)
}

async function readForm(request: IncomingMessage): Promise<URLSearchParams> {
  let text = ''
  for await (const chunk of request.setEncoding('utf8')) if (text.length < 8192) text += chunk
  return new URLSearchParams(text)
}
