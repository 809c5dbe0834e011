import type { LiveGrant } from 'open-payments-server'

const escapeHtml = (text: string): string => text.replaceAll(/[&<>"]/g, (character) => `&#${character.charCodeAt(0)};`)

const page = (main: string): string =>
  `<!doctype html><html lang="en"><meta charset="utf-8"><title>Example Wallet</title><main>${main}</main></html>`

/** Where a person logs in; the form comes back to the same URL. */
export function loginPage(heading: string): string {
  return page(`<h1>${escapeHtml(heading)}</h1>
<form method="post">
<label>Name <input name="name" autocomplete="username" required></label>
<label>Password <input name="password" type="password" autocomplete="current-password" required></label>
<button>Log in</button>
</form>`)
}

/** What a person has allowed, each with a button that revokes it. */
export function homePage(name: string, grants: readonly LiveGrant[]): string {
  const rows = grants.map(
    ({ id, client, access }) => `<li><form method="post" action="/revoke">
${escapeHtml(client)} may use ${access.map(({ type, actions }) => `${type} (${actions.join(', ')})`).join(' and ')}
<button name="grant" value="${id}">Take it back</button></form></li>`,
  )
  return page(`<h1>Hello ${escapeHtml(name)}</h1>
<ul>${rows.join('')}</ul>
<form method="post" action="/logout"><button>Log out</button></form>`)
}
