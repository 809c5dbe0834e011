import type { IncomingMessage, ServerResponse } from 'node:http'
import type { Access, LiveGrant, OpenPayments, WireAmount } from 'open-payments-server'
import type { DoubleEntryLedger } from 'open-payments-server/ledger/memory'
import type { AccountConfiguration } from './configuration.ts'
import { type Logins, localTarget } from './login.ts'
import { formatMoney } from './money.ts'
import {
  type AccountRow,
  type GrantRow,
  type MovementRow,
  PAGE_HEADERS,
  type PeerRow,
  renderHome,
  renderLogin,
  renderMessage,
} from './pages.ts'
import type { PeerDescription } from './peers.ts'

/** What the sandbox's own pages show and do. */
export interface RouteParts {
  readonly origin: string
  readonly openPayments: Pick<OpenPayments, 'grants'>
  readonly ledger: DoubleEntryLedger
  readonly accounts: readonly AccountConfiguration[]
  readonly peers: () => Promise<readonly PeerDescription[]>
  readonly logins: Logins
}

const FORM_BYTES = 8192
const MOVEMENTS = 10

/** Marks the visit to the login page that follows a correct password. */
const ENTERED = 'entered'

/** The login page for a browser that wants to go to `target`. */
export function loginUrl(target: string): string {
  return `/sandbox/login?next=${encodeURIComponent(target)}`
}

/** The fields of a form; none if it is too large. */
async function readForm(request: IncomingMessage): Promise<URLSearchParams> {
  let text = ''
  request.setEncoding('utf8')
  for await (const chunk of request) {
    if (text.length < FORM_BYTES) text += chunk
  }
  return new URLSearchParams(text.length < FORM_BYTES ? text : '')
}

function sendPage(response: ServerResponse, status: number, body: string): void {
  response.writeHead(status, PAGE_HEADERS).end(body)
}

function redirect(response: ServerResponse, location: string, cookie?: string): void {
  response
    .writeHead(303, { location, 'cache-control': 'no-store', ...(cookie !== undefined && { 'set-cookie': cookie }) })
    .end()
}

async function listAccounts({ origin, accounts, ledger }: RouteParts): Promise<readonly AccountRow[]> {
  return Promise.all(
    accounts.map(async (account) => {
      const balance = await ledger.balance(account.path)
      const text = formatMoney(balance?.total ?? 0n, account)
      return { walletAddress: origin + account.path, name: account.name ?? '', balance: text }
    }),
  )
}

async function listMovements({ origin, accounts, ledger }: RouteParts): Promise<readonly MovementRow[]> {
  const rows = await Promise.all(
    accounts.map(async (account) => {
      const entries = await ledger.entries(account.path)
      return entries
        .filter(({ transfer }) => !transfer.startsWith('opening:'))
        .slice(-MOVEMENTS)
        .map(({ at, amount }) => ({ at, walletAddress: origin + account.path, amount: formatMoney(amount, account) }))
    }),
  )
  return rows
    .flat()
    .sort((a, b) => b.at - a.at)
    .slice(0, MOVEMENTS)
}

async function listPeers({ peers }: RouteParts): Promise<readonly PeerRow[]> {
  return (await peers()).map(({ address, sent, received, owed, ...asset }) => {
    const money = (value: string): string => formatMoney(BigInt(value), asset)
    return { address, sent: money(sent), received: money(received), owed: money(owed) }
  })
}

function describeRight(access: Access): string {
  const right = `${access.type}: ${access.actions.join(', ')}`
  const { debitAmount, receiveAmount, interval, receiver } = ('limits' in access && access.limits) || {}
  const money = ({ value, ...asset }: WireAmount): string => formatMoney(BigInt(value), asset)
  return [
    right,
    ...(debitAmount ? [`sends up to ${money(debitAmount)}`] : []),
    ...(receiveAmount ? [`delivers up to ${money(receiveAmount)}`] : []),
    ...(interval === undefined ? [] : [`per ${interval}`]),
    ...(receiver === undefined ? [] : [`to ${receiver}`]),
  ].join(', ')
}

async function listGrants({ origin, accounts, openPayments }: RouteParts): Promise<readonly GrantRow[]> {
  const rows = await Promise.all(
    accounts.map(async ({ path }) => {
      const grants = await listAll(openPayments, origin + path)
      return grants.map(({ id, client, access }) => ({
        id,
        client,
        walletAddress: origin + path,
        rights: access.map(describeRight),
      }))
    }),
  )
  return rows.flat()
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

async function showHome(parts: RouteParts, response: ServerResponse): Promise<void> {
  const [accounts, movements, peers, grants] = await Promise.all([
    listAccounts(parts),
    listMovements(parts),
    listPeers(parts),
    listGrants(parts),
  ])
  sendPage(response, 200, renderHome({ accounts, movements, peers, grants }))
}

/** Browsers say where a request comes from. `SameSite` is not enough: to a cookie, another port is the same site. */
function isForeign(request: IncomingMessage): boolean {
  const site = request.headers['sec-fetch-site']
  return site !== undefined && site !== 'same-origin' && site !== 'none'
}

function sendNothing(response: ServerResponse): void {
  sendPage(response, 404, renderMessage('There is nothing here', 'Check the address.'))
}

async function logIn(
  { logins }: RouteParts,
  url: URL,
  request: IncomingMessage,
  response: ServerResponse,
): Promise<void> {
  const session = logins.logIn(await readForm(request))
  const target = url.searchParams.get('next') ?? '/'
  // By way of the login page, which can tell whether the browser kept the cookie.
  if (session !== undefined) return redirect(response, `${loginUrl(target)}&${ENTERED}`, session)
  sendPage(response, 401, renderLogin(loginUrl(target), 'wrong credentials'))
}

function showLogin({ origin }: RouteParts, { searchParams }: URL, isLoggedIn: boolean, response: ServerResponse): void {
  const next = searchParams.get('next')
  if (isLoggedIn) redirect(response, localTarget(next, origin))
  else sendPage(response, 200, renderLogin(loginUrl(next ?? '/'), searchParams.has(ENTERED) ? 'no cookie' : undefined))
}

async function answer(parts: RouteParts, request: IncomingMessage, response: ServerResponse): Promise<void> {
  const { origin, logins, openPayments } = parts
  const target = origin + request.url
  if (!request.url?.startsWith('/') || !URL.canParse(target)) return sendNothing(response)
  if (request.method === 'POST' && isForeign(request))
    return sendPage(
      response,
      403,
      renderMessage('This form is not ours', 'It came from another page. Nothing was done.'),
    )
  const url = new URL(target)
  const { cookie } = request.headers
  const isLoggedIn = logins.sessionOf(cookie) !== undefined
  switch (`${request.method} ${url.pathname}`) {
    case 'GET /':
      return isLoggedIn ? showHome(parts, response) : redirect(response, loginUrl('/'))
    case 'GET /sandbox/login':
      return showLogin(parts, url, isLoggedIn, response)
    case 'POST /sandbox/login':
      return logIn(parts, url, request, response)
    case 'POST /sandbox/logout':
      return redirect(response, `${origin}/`, logins.logOut(cookie))
    case 'POST /sandbox/revoke': {
      const grant = (await readForm(request)).get('grant')
      // The person owns every account here; `revoke` does nothing for an account that the grant is not about.
      const owned = isLoggedIn && grant !== null ? parts.accounts : []
      for (const { path } of owned) await openPayments.grants.revoke(origin + path, grant ?? '')
      return redirect(response, `${origin}/`)
    }
    default:
      return sendNothing(response)
  }
}

/** The sandbox's own pages: home, login, and what their forms do. */
export function createRoutes(parts: RouteParts): (request: IncomingMessage, response: ServerResponse) => void {
  return (request, response) => {
    answer(parts, request, response).catch((error: unknown) => {
      console.error(error)
      if (response.headersSent) response.destroy()
      else sendPage(response, 500, renderMessage('Something went wrong', 'The terminal of the sandbox says what.'))
    })
  }
}
