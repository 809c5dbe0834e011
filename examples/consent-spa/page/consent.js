// The consent screen. All that it shows comes from the wallet's own API, and is inserted as text, never as markup.
import { countSending, moment, showRight } from './rights.js'

const reference = location.hash.slice(1)
const main = document.getElementById('main')
const logOut = document.getElementById('log-out')
const find = (selector) => main.querySelector(selector)

/** Calls the wallet: resolves with its answer, or with an empty object if there was none. */
async function call(method, path, body) {
  const sent = body && { headers: { 'content-type': 'application/json' }, body: JSON.stringify(body) }
  return fetch(path, { method, ...sent })
    .then((response) => response.json())
    .catch(() => ({}))
}

/** Replaces what is shown by a template, and moves the focus to its heading, for screen readers. */
function show(template) {
  main.replaceChildren(document.getElementById(template).content.cloneNode(true))
  find('h1').focus()
}

function showNotice(heading, text) {
  show('notice')
  find('h1').textContent = heading
  find('p').textContent = text
}

const START_AGAIN = 'Nothing was approved. Go back to where you came from and start again.'
const REFUSALS = {
  unknown: ['We do not know this request', START_AGAIN],
  expired: ['This request has expired', START_AGAIN],
  used: ['This request was already answered', 'It can be answered once only. You can close this window.'],
  other_session: ['This request was opened elsewhere', `In another browser, or in another login. ${START_AGAIN}`],
  not_owner: ['This is about an account that is not yours', 'Only its owner can answer. Log in as somebody else?'],
}

function showRefusal(reason) {
  showNotice(...(REFUSALS[reason] ?? ['That did not work', 'Load this page again, and look whether it was answered.']))
}

/** Opens the interaction, after a login if nobody is logged in. */
async function open() {
  const answer = await call('GET', `/api/interactions/${encodeURIComponent(reference)}`)
  logOut.hidden = answer.reason === 'logged_out'
  if (answer.ok) showQuestion(answer)
  else if (answer.reason === 'logged_out') showLogin()
  else showRefusal(answer.reason)
}

function showLogin() {
  show('login')
  find('form').addEventListener('submit', async (event) => {
    event.preventDefault()
    const { reason } = await call('POST', '/api/session', Object.fromEntries(new FormData(event.target)))
    if (reason === undefined) return open()
    find('.error').textContent = 'That name and password do not fit together.'
  })
}

function showQuestion({ consent, csrf }) {
  const { client, finishHost, subject, walletAddress } = consent
  show('question')
  const texts = {
    asker: client.name ?? client.id,
    client: client.id, // beside the name, since its owner could choose any
    local: client.isLocal
      ? 'It has an account at this wallet, like any other customer. This does not mean that the wallet itself asks.'
      : '',
    account: walletAddress,
    next: finishHost
      ? `After your answer your browser goes to ${finishHost}.`
      : 'This request does not say where to send you afterwards. If it was not you who started it, deny it.',
    until: `You can answer until ${moment(consent.expiresAt)}.`,
  }
  for (const [name, text] of Object.entries(texts)) find(`[data-text=${name}]`).textContent = text
  const sending = countSending(consent.access)
  const kind = { isOptional: consent.access.length > 1 || subject, isAlone: sending < 2 }
  const rights = consent.access.map((right) => showRight(right, kind))
  if (!kind.isAlone)
    find('#rights').append(`It asks for ${sending} rights to send money: what they let leave your account adds up.`)
  find('#rights').append(...rights.map(({ shown }) => shown))
  if (subject) find('#rights').append(`It will also learn that ${walletAddress} is yours.`)

  find('form').addEventListener('submit', async (event) => {
    event.preventDefault()
    const decision = event.submitter.value
    const access = decision === 'approve' ? rights.flatMap(({ choose }) => choose()) : undefined
    find('.error').textContent = access?.length === 0 && !subject ? 'Allow something, or deny.' : ''
    if (find('.error').textContent !== '') return
    for (const button of main.querySelectorAll('button')) button.disabled = true
    const answer = await call('POST', `/api/interactions/${encodeURIComponent(reference)}`, { decision, csrf, access })
    if (!answer.ok) showRefusal(answer.reason)
    // `replace`, so that going back does not lead to a question that was answered.
    else if (answer.redirect) location.replace(answer.redirect)
    else showNotice(decision === 'approve' ? 'Approved' : 'Denied', 'You can close this window.')
  })
}

logOut.addEventListener('click', () => call('DELETE', '/api/session').then(open))
addEventListener('hashchange', () => location.reload())
open()
