import type { ConsentData } from '../../src/ports/consent.ts'
import { html, type Markup } from './markup.ts'
import type { Notice } from './notices.ts'
import { additionInWords, momentInWords, type RightInWords, requestInWords, rightsInWords } from './sentences.ts'
import { STYLE } from './style.ts'

/** Whose page it is, and who is looking at it. */
export interface Frame {
  readonly walletName: string
  /** Where the wallet's own pages begin, if it gave that. */
  readonly homeUrl?: string | undefined
  /** The person who is logged in, if the wallet gave a name. */
  readonly userName?: string | undefined
}

function renderHeader({ walletName, homeUrl, userName }: Frame): Markup {
  const name =
    homeUrl === undefined ? html`<strong>${walletName}</strong>` : html`<a href="${homeUrl}">${walletName}</a>`
  const user = userName === undefined ? undefined : html`<p>Signed in as <bdi>${userName}</bdi></p>`
  return html`<header><p>${name}</p>${user}</header>`
}

function renderDocument(frame: Frame, title: string, main: Markup): string {
  return html`<!doctype html>
<html lang="en">
<head>
<meta charset="utf-8">
<meta name="viewport" content="width=device-width, initial-scale=1">
<meta name="robots" content="noindex">
<title>${title} – ${frame.walletName}</title>
<style>${{ markup: STYLE }}</style>
</head>
<body>
${renderHeader(frame)}
<main>
${main}
</main>
</body>
</html>
`.markup
}

function renderMark(isDone: boolean): Markup {
  const sign = isDone ? html`<path d="m15 25 6 6 12-13"/>` : html`<path d="M24 23v11M24 15v.1"/>`
  return html`<svg class="mark" viewBox="0 0 48 48" aria-hidden="true"><circle cx="24" cy="24" r="21"/>${sign}</svg>`
}

/** A page with a heading, one paragraph and the ways on: to the request if it is still open, and to the wallet. */
export function renderNotice(frame: Frame, { heading, text, isDone, isOpen }: Notice): string {
  const { walletName, homeUrl } = frame
  const links = [
    // An empty `href` is the page's own address, so the page need not repeat the secret reference.
    ...(isOpen ? [html`<a class="button again" href="">Open the request again</a>`] : []),
    ...(homeUrl === undefined ? [] : [html`<a class="button" href="${homeUrl}">Go to ${walletName}</a>`]),
  ]
  return renderDocument(
    frame,
    heading,
    html`${renderMark(isDone ?? false)}
<h1>${heading}</h1>
<p>${text}</p>
${links.length > 0 ? html`<p class="links">${links}</p>` : undefined}`,
  )
}

function renderFact(label: string, value: Markup): Markup {
  return html`<div><dt>${label}</dt><dd>${value}</dd></div>\n`
}

function renderCaution(text: string | undefined): Markup | undefined {
  return text === undefined ? undefined : html`<p class="note"><strong>Take care.</strong> ${text}</p>\n`
}

function renderRight({ title, sentences, ceilings, details, warning }: RightInWords): Markup {
  return html`<section aria-label="${title}">
<h2>${title}</h2>
${renderCaution(warning)}${ceilings.map(
  // A long amount is written smaller, so that it stays on one line.
  ({ label, amount, scope }) =>
    html`<p class="ceiling${amount.length > 16 ? ' long' : ''}"><span>${label}</span> <strong>${amount}</strong> ${scope}</p>\n`,
)}${
  details.length > 0
    ? html`<dl>\n${details.map(({ label, value }) => renderFact(label, html`<bdi>${value}</bdi>`))}</dl>\n`
    : undefined
}<ul>${sentences.map((sentence) => html`<li>${sentence}</li>`)}</ul>
</section>
`
}

function renderNext(finishHost: string | undefined): Markup {
  return finishHost === undefined
    ? html`<p class="note"><strong>Did you start this yourself?</strong> This request does not say where to send you afterwards, so we
cannot be sure that it was you who began it. If somebody sent you this link, deny it.</p>`
    : html`<p>If it was not you who began this, deny it.</p>`
}

function renderRequest({ client, walletAddress, access, finishHost, expiresAt }: ConsentData): Markup {
  // A right to send money already names the account above.
  const isNamed = access.some((right) => right.access.type === 'outgoing-payment')
  const account = isNamed ? undefined : renderFact('Your account', html`<bdi>${walletAddress}</bdi>`)
  const next =
    finishHost === undefined
      ? undefined
      : renderFact('Afterwards', html`Your browser goes to <strong><bdi>${finishHost}</bdi></strong>`)
  return html`<section aria-label="About this request">
<h2>About this request</h2>
<dl>
${renderFact('Asked by', html`<bdi>${client.id}</bdi> <span>Checked: the request is signed with its key</span>`)}${account}${renderFact('Answer until', html`${momentInWords(expiresAt)}`)}${next}</dl>
${renderNext(finishHost)}
</section>
`
}

/**
 * The question itself. No element has an id: a client could add `#id` to the link, and the page would open below what it
 * asks for, with Approve in view. @spec T-18 @spec T-19
 *
 * The client's name is always shown beside its whole address: the client chooses its name freely, but not its address; and
 * many clients may share one origin.
 * @spec INT-11
 */
export function renderQuestion(
  frame: Frame,
  consent: ConsentData,
  form: { readonly url: string; readonly csrf: string },
): string {
  const { client } = consent
  const asker = client.name ?? client.id
  const request = requestInWords(consent)
  const note =
    client.name === undefined ? undefined : html` <span>The name is its own choice; this address is checked.</span>`
  const local = client.isLocal
    ? html`<p>It has an account at ${frame.walletName}, like any other customer. This does not mean that ${frame.walletName} itself asks.</p>\n`
    : undefined
  return renderDocument(
    frame,
    `${asker} ${request}`,
    html`<h1><bdi>${asker}</bdi> ${request}</h1>
<p class="asker"><bdi><strong>${client.origin}</strong>${client.id.slice(client.origin.length)}</bdi>${note}</p>
${local}${renderCaution(additionInWords(consent))}<p>If you approve, it may:</p>
${rightsInWords(consent).map(renderRight)}${renderRequest(consent)}<form method="post" action="${form.url}" aria-label="Your answer">
<input type="hidden" name="csrf" value="${form.csrf}">
<button name="decision" value="approve">Approve</button>
<button name="decision" value="deny">Deny</button>
</form>`,
  )
}
