import type { ConsentData, InteractionRefusal } from '../../src/ports/consent.ts'
import { html, type Markup } from './markup.ts'
import { momentInWords, type RightInWords, rightsInWords } from './sentences.ts'
import { STYLE } from './style.ts'

/** Whose page it is, and who looks at it. */
export interface Frame {
  readonly walletName: string
  /** The person who is logged in, where the wallet gave a name. */
  readonly userName?: string | undefined
}

/** A page that tells one thing and asks for nothing. */
export interface Notice {
  readonly status: number
  readonly heading: string
  readonly text: string
}

const START_AGAIN = 'Go back to where you came from and start again.'

/** What to say where an interaction cannot be shown or decided. None of these redirects. @spec INT-3 @spec INT-4 */
export const REFUSALS: Readonly<Record<InteractionRefusal, Notice>> = {
  unknown: { status: 404, heading: 'We do not know this request', text: `Check the address. ${START_AGAIN}` },
  expired: { status: 410, heading: 'This request has expired', text: `Nothing was approved. ${START_AGAIN}` },
  used: {
    status: 410,
    heading: 'This request was already answered',
    text: 'It can be answered once only. You can close this window.',
  },
  other_session: {
    status: 403,
    heading: 'This request was opened elsewhere',
    text: `It belongs to another browser or another login. Nothing was approved here. ${START_AGAIN}`,
  },
  bad_csrf: {
    status: 403,
    heading: 'We could not check your answer',
    text: 'Nothing was approved. Open the request again and answer it there.',
  },
  not_owner: {
    status: 403,
    heading: 'This request is about an account that is not yours',
    text: 'Only its owner can answer it. Nothing was approved.',
  },
  wider_access: {
    status: 400,
    heading: 'This is more than was asked for',
    text: 'Nothing was approved. Open the request again and answer it there.',
  },
}

/** A whole document. */
export function renderDocument(frame: Frame, title: string, main: Markup): string {
  const user = frame.userName === undefined ? undefined : html`<p>Signed in as <bdi>${frame.userName}</bdi></p>`
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
<header><p><strong>${frame.walletName}</strong></p>${user}</header>
<main>
${main}
</main>
</body>
</html>
`.markup
}

/** A page with a heading and one paragraph. */
export function renderNotice(frame: Frame, notice: Omit<Notice, 'status'>): string {
  return renderDocument(frame, notice.heading, html`<h1>${notice.heading}</h1>\n<p>${notice.text}</p>`)
}

function renderRight(right: RightInWords, index: number): Markup {
  const details = right.details.map(
    ({ label, value, isAmount }) =>
      html`<dt>${label}</dt><dd${isAmount ? html` class="amount"` : undefined}><bdi>${value}</bdi></dd>\n`,
  )
  return html`<section aria-labelledby="right-${index}">
<h2 id="right-${index}">${right.title}</h2>
<ul>${right.sentences.map((sentence) => html`<li>${sentence}</li>`)}</ul>
${details.length > 0 ? html`<dl>\n${details}</dl>` : undefined}
${right.warning === undefined ? undefined : html`<p class="note"><strong>Take care.</strong> ${right.warning}</p>`}
</section>
`
}

function renderNext(finishHost: string | undefined): Markup {
  return finishHost === undefined
    ? html`<p class="note"><strong>Did you start this yourself?</strong> This request does not say where to send you afterwards, so we
cannot be sure that it was you who began it. If somebody sent you this link, deny it.</p>`
    : html`<p>After your answer your browser goes to <strong><bdi>${finishHost}</bdi></strong>.</p>`
}

/**
 * The question itself. The asker's own name always stands beside its origin: the name is its owner's choice, the
 * origin is not.
 * @spec INT-11
 */
export function renderQuestion(
  frame: Frame,
  consent: ConsentData,
  form: { readonly url: string; readonly csrf: string },
): string {
  const { client } = consent
  const asker = client.name ?? client.id
  return renderDocument(
    frame,
    `${asker} asks for your consent`,
    html`<h1><bdi>${asker}</bdi> asks for your consent</h1>
<dl>
<dt>Who asks</dt><dd>${client.name === undefined ? undefined : html`<bdi>${client.name}</bdi>, at `}<strong><bdi>${client.origin}</bdi></strong></dd>
<dt>Its wallet address</dt><dd><bdi>${client.id}</bdi></dd>
<dt>Your account</dt><dd><bdi>${consent.walletAddress}</bdi></dd>
</dl>
<p>If you approve, it may:</p>
${rightsInWords(consent).map(renderRight)}
<section aria-labelledby="next">
<h2 id="next">What happens next</h2>
${renderNext(consent.finishHost)}
</section>
<form method="post" action="${form.url}" aria-label="Your answer">
<input type="hidden" name="csrf" value="${form.csrf}">
<button name="decision" value="approve">Approve</button>
<button name="decision" value="deny">Deny</button>
</form>
<small>You can answer until ${momentInWords(consent.expiresAt)}.</small>`,
  )
}
