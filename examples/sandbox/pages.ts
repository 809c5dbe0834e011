import { createHash } from 'node:crypto'
import { CREDENTIALS } from './login.ts'
import { STYLE } from './style.ts'

/** One account on the home page. */
export interface AccountRow {
  readonly walletAddress: string
  readonly name: string
  readonly balance: string
}

/** Money that moved, on the home page. */
export interface MovementRow {
  readonly at: number
  readonly walletAddress: string
  readonly amount: string
}

/** A peer on the home page. */
export interface PeerRow {
  readonly address: string
  readonly sent: string
  readonly received: string
  /** What the peer owes; if negative, what it is owed. */
  readonly owed: string
}

/** A grant on the home page, to be revoked there. */
export interface GrantRow {
  readonly id: string
  readonly client: string
  readonly walletAddress: string
  readonly rights: readonly string[]
}

/** Why somebody who wants to log in sees the login page again. */
export type LoginTrouble = 'wrong credentials' | 'no cookie'

/** What every page of the sandbox itself is sent with. */
export const PAGE_HEADERS = {
  'content-type': 'text/html; charset=utf-8',
  'x-content-type-options': 'nosniff',
  'cache-control': 'no-store',
  'referrer-policy': 'no-referrer',
  'x-frame-options': 'DENY',
  'content-security-policy': `default-src 'none'; style-src 'sha256-${createHash('sha256').update(STYLE).digest('base64')}'; form-action 'self'; frame-ancestors 'none'; base-uri 'none'`,
} as const

function escapeText(text: string): string {
  return text.replace(/[&<>"']/g, (character) => `&#${character.charCodeAt(0)};`)
}

function renderPage(title: string, main: string, headerForm = ''): string {
  return `<!doctype html>
<html lang="en">
<head>
<meta charset="utf-8">
<meta name="viewport" content="width=device-width, initial-scale=1">
<meta name="robots" content="noindex">
<title>${escapeText(title)} – Open Payments sandbox</title>
<style>${STYLE}</style>
</head>
<body>
<header><a href="/">Open Payments sandbox</a>${headerForm}</header>
<main>
${main}
</main>
</body>
</html>
`
}

/** A page that says one thing. */
export function renderMessage(heading: string, text: string): string {
  return renderPage(
    heading,
    `<div class="card narrow">
<h1>${escapeText(heading)}</h1>
<p>${escapeText(text)}</p>
<a class="button" href="/">Go to your accounts</a>
</div>`,
  )
}

const TROUBLES: Readonly<Record<LoginTrouble, string>> = {
  'wrong credentials': 'This user name and this password do not belong together. Please try again.',
  'no cookie':
    'You gave the right password, but your browser did not keep the cookie that says so. Allow cookies for this site, then log in again.',
}

/** The login form. Its credentials are no secret, so the page shows them. */
export function renderLogin(action: string, trouble?: LoginTrouble): string {
  const { username = '', password = '' } = CREDENTIALS
  const isWrong = trouble === 'wrong credentials' ? ' aria-invalid="true" aria-describedby="trouble"' : ''
  return renderPage(
    'Log in',
    `<div class="card narrow">
<h1>Log in</h1>
${trouble === undefined ? '' : `<p class="note" id="trouble" role="alert">${TROUBLES[trouble]}</p>`}
<p>In this sandbox the user name is <code>${escapeText(username)}</code> and the password <code>${escapeText(password)}</code>.</p>
<form method="post" action="${escapeText(action)}">
<label>User name <input name="username" autocomplete="username" autocapitalize="none" spellcheck="false" required autofocus${isWrong}></label>
<label>Password <input name="password" type="password" autocomplete="current-password" required${isWrong}></label>
<button class="primary">Log in</button>
</form>
</div>`,
  )
}

function renderAccount({ name, walletAddress, balance }: AccountRow): string {
  return `<li class="card"><h2 class="name">${escapeText(name)}</h2>
<p class="balance">${escapeText(balance)}</p>
<p class="soft">${escapeText(walletAddress)}</p></li>`
}

const MOMENT = new Intl.DateTimeFormat('en-GB', { dateStyle: 'medium', timeStyle: 'medium', timeZone: 'UTC' })

function renderMovement({ at, walletAddress, amount }: MovementRow): string {
  return `<li><p>${escapeText(walletAddress)}<br><span class="soft">${MOMENT.format(at)} UTC</span></p><p class="amount">${escapeText(amount)}</p></li>`
}

function renderPeer({ address, sent, received, owed }: PeerRow): string {
  return `<li><p>${escapeText(address)}<br><span class="soft">sent ${escapeText(sent)}, received ${escapeText(received)}</span></p><p class="amount">owes you ${escapeText(owed)}</p></li>`
}

function renderGrant({ id, client, walletAddress, rights }: GrantRow): string {
  return `<li><div><p><strong>${escapeText(client)}</strong></p>
<p class="soft">${escapeText(walletAddress)}</p>
${rights.map((right) => `<p>${escapeText(right)}</p>`).join('\n')}</div>
<form method="post" action="/sandbox/revoke"><input type="hidden" name="grant" value="${escapeText(id)}">
<button aria-label="Revoke the grant of ${escapeText(client)}">Revoke</button></form></li>`
}

function renderRows(rows: readonly string[], nothing: string): string {
  return rows.length > 0
    ? `<ul class="card rows">\n${rows.join('\n')}\n</ul>`
    : `<div class="card soft">${escapeText(nothing)}</div>`
}

/** The home page: what the accounts hold, what moved last, and what others may do. */
export function renderHome(content: {
  readonly accounts: readonly AccountRow[]
  readonly movements: readonly MovementRow[]
  readonly peers: readonly PeerRow[]
  readonly grants: readonly GrantRow[]
}): string {
  const { accounts, movements, peers, grants } = content
  return renderPage(
    'Your accounts',
    `<h1>Your accounts</h1>
<ul class="accounts">
${accounts.map(renderAccount).join('\n')}
</ul>
<h2>Recent payments</h2>
${renderRows(movements.map(renderMovement), 'No money has moved yet.')}
${peers.length === 0 ? '' : `<h2>Peers</h2>\n${renderRows(peers.map(renderPeer), '')}`}
<h2>Who may use your accounts</h2>
${renderRows(grants.map(renderGrant), 'Nobody. Once you approve a request, you can take it back here.')}`,
    '<form method="post" action="/sandbox/logout"><button>Log out</button></form>',
  )
}
