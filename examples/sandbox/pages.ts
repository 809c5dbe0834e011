import { createHash } from 'node:crypto'
import { CREDENTIALS } from './login.ts'

/** A row of the home page: one account. */
export interface AccountRow {
  readonly walletAddress: string
  readonly name: string
  readonly balance: string
}

/** A row of the home page: money that moved. */
export interface MovementRow {
  readonly at: number
  readonly walletAddress: string
  readonly amount: string
}

/** A row of the home page: a grant that can be revoked. */
export interface GrantRow {
  readonly id: string
  readonly client: string
  readonly walletAddress: string
  readonly rights: string
}

const STYLE = `
:root { color-scheme: light dark; }
body { max-width: 48rem; margin: 2rem auto; padding: 0 1rem; font: 1rem/1.5 system-ui, sans-serif; overflow-wrap: anywhere; }
table { width: 100%; border-collapse: collapse; }
th, td { padding: .375rem .75rem .375rem 0; border-bottom: 1px solid color-mix(in srgb, currentColor 25%, transparent); text-align: left; }

label { display: block; margin-bottom: .75rem; }
input { display: block; width: min(100%, 20rem); }
input, button { font: inherit; padding: .375rem .625rem; }
:focus-visible { outline: 3px solid Highlight; outline-offset: 2px; }
`

/** What every page of the sandbox itself is sent with. */
export const PAGE_HEADERS = {
  'content-type': 'text/html; charset=utf-8',
  'cache-control': 'no-store',
  'referrer-policy': 'no-referrer',
  'x-frame-options': 'DENY',
  'content-security-policy': `default-src 'none'; style-src 'sha256-${createHash('sha256').update(STYLE).digest('base64')}'; form-action 'self'; frame-ancestors 'none'; base-uri 'none'`,
} as const

function escapeText(text: string): string {
  return text.replace(/[&<>"']/g, (character) => `&#${character.charCodeAt(0)};`)
}

function renderPage(title: string, main: string): string {
  return `<!doctype html>
<html lang="en">
<head>
<meta charset="utf-8">
<meta name="viewport" content="width=device-width, initial-scale=1">
<title>${escapeText(title)} – Open Payments sandbox</title>
<style>${STYLE}</style>
</head>
<body>
<main>
<h1>${escapeText(title)}</h1>
${main}
</main>
</body>
</html>
`
}

/** A page that says one thing. */
export function renderMessage(text: string): string {
  return renderPage(text, '<p><a href="/">Home</a></p>')
}

/** The login form; its credentials are no secret, so the page shows them. */
export function renderLogin({ action, hasFailed }: { readonly action: string; readonly hasFailed: boolean }): string {
  const hint = Object.entries(CREDENTIALS).map(([field, value]) => `${field} <code>${escapeText(value)}</code>`)
  return renderPage(
    'Log in',
    `${hasFailed ? '<p role="alert">That is not right.</p>' : ''}
<p>In this sandbox: ${hint.join(', ')}.</p>
<form method="post" action="${escapeText(action)}">
<label>User name <input name="username" autocomplete="username" required autofocus></label>
<label>Password <input name="password" type="password" autocomplete="current-password" required></label>
<button>Log in</button>
</form>`,
  )
}

function renderTable(headings: readonly string[], rows: readonly (readonly string[])[]): string {
  const cells = (tag: string, texts: readonly string[]) =>
    `<tr>${texts.map((text) => `<${tag}>${text}</${tag}>`).join('')}</tr>`
  return `<table>\n<thead>${cells('th', headings)}</thead>\n<tbody>${rows.map((row) => cells('td', row)).join('\n')}</tbody>\n</table>`
}

function renderGrant({ id, client, walletAddress, rights }: GrantRow): readonly string[] {
  const button = `<form method="post" action="/sandbox/revoke"><input type="hidden" name="grant" value="${escapeText(id)}">
<button aria-label="Revoke the grant of ${escapeText(client)}">Revoke</button></form>`
  return [escapeText(client), escapeText(walletAddress), escapeText(rights), button]
}

/** The home page: what the accounts hold, what moved last, and what others may do. */
export function renderHome(content: {
  readonly accounts: readonly AccountRow[]
  readonly movements: readonly MovementRow[]
  readonly grants: readonly GrantRow[]
}): string {
  const accounts = content.accounts.map((row) => [row.name, row.walletAddress, row.balance].map(escapeText))
  const movements = content.movements.map((row) =>
    [new Date(row.at).toISOString(), row.walletAddress, row.amount].map(escapeText),
  )
  const grants = content.grants.map(renderGrant)
  return renderPage(
    'Your accounts',
    `${renderTable(['Name', 'Wallet address', 'Balance'], accounts)}
<h2>Recent payments</h2>
${movements.length > 0 ? renderTable(['When', 'Account', 'Amount'], movements) : '<p>None yet.</p>'}
<h2>Who may use your accounts</h2>
${grants.length > 0 ? renderTable(['Who', 'Account', 'May', ''], grants) : '<p>Nobody.</p>'}
<form method="post" action="/sandbox/logout"><p><button>Log out</button></p></form>`,
  )
}
