// What is asked for, in words, and the controls with which a person allows less of it.

const ACTIONS = {
  'outgoing-payment create': 'Send money from your account, without asking you again.',
  'outgoing-payment read': 'See the payments that it sent.',
  'outgoing-payment read-all': 'See every payment that was sent from your account.',
  'outgoing-payment list': 'List the payments that it sent.',
  'outgoing-payment list-all': 'List every payment that was sent from your account.',
  'incoming-payment create': 'Ask others for money to your account.',
  'incoming-payment complete': 'Close what it asked for.',
  'incoming-payment read': 'See what it asked for.',
  'incoming-payment read-all': 'See everything that anybody asked for.',
  'incoming-payment list': 'List what it asked for.',
  'incoming-payment list-all': 'List everything that anybody asked for.',
  'quote create': 'Ask what a payment would cost.',
  'quote read': 'See the prices that it asked for.',
  'quote read-all': 'See all prices that anybody asked for.',
}
const TITLES = {
  'outgoing-payment': 'Payments from your account',
  'incoming-payment': 'Payments to your account',
  quote: 'Prices',
}
const AMOUNTS = { debitAmount: 'At most leaves your account', receiveAmount: 'At most arrives' }
const UNITS = ['year', 'month', 'week', 'day', 'hour', 'minute', 'second']
const DURATION = /P(?:(\d+)Y)?(?:(\d+)M)?(?:(\d+)W)?(?:(\d+)D)?(?:T(?:(\d+)H)?(?:(\d+)M)?(?:(\d+)S)?)?/

/** A time in the person's own time zone, or in `UTC`, in which periods begin and end. */
export function moment(at, timeZone) {
  const format = new Intl.DateTimeFormat('en', { dateStyle: 'long', timeStyle: 'short', timeZone })
  return `${format.format(at)}${timeZone ? ` ${timeZone}` : ''}`
}

/** `every month, 12 times` for `R11/2026-03-01T00:00:00Z/P1M`. */
function periodInWords({ interval, windows }) {
  const [, ...counts] = DURATION.exec(interval) ?? []
  const parts = UNITS.map((unit, at) => [unit, Number(counts[at] ?? 0)])
    .filter(([, count]) => count > 0)
    .map(([unit, count]) => (count === 1 ? unit : `${count} ${unit}s`))
  const period = parts.length > 0 ? parts.join(' and ') : `period of ${interval}`
  return `every ${period}${windows === undefined ? '' : `, ${windows === 1 ? 'once' : `${windows} times`}`}`
}

/** `1234n` for `12.34` at scale 2; `undefined` for anything else. Money is never a floating-point number. */
function smallestUnits(text, scale) {
  const [, whole, fraction = ''] = /^(\d{1,20})(?:[.,](\d+))?$/.exec(text.trim()) ?? []
  return whole === undefined || fraction.length > scale ? undefined : BigInt(whole + fraction.padEnd(scale, '0'))
}

function element(name, ...children) {
  const made = document.createElement(name)
  made.append(...children)
  return made
}

/** A field for an amount up to the one that is asked for, which is both `asked` and, for people, `text`. */
function amountInput(label, asked, text) {
  const input = element('input')
  Object.assign(input, { value: text.split(' ')[0], inputMode: 'decimal', autocomplete: 'off', required: true })
  input.setAttribute('aria-label', `${label}, in ${asked.assetCode}; you can lower it`)
  input.addEventListener('input', () => {
    const value = smallestUnits(input.value, asked.assetScale) ?? 0n
    input.setCustomValidity(value > 0n && value <= BigInt(asked.value) ? '' : `Write an amount up to ${text}.`)
  })
  return input
}

/** How many rights let money leave: if there are several, each has its own amount, and none of these is the total. */
export function countSending(rights) {
  return rights.filter(({ access }) => access.type === 'outgoing-payment' && access.actions.includes('create')).length
}

/** What an amount is counted over: `in total`, `every month, for this right alone`. */
function scopeInWords(interval, isAlone) {
  const period = interval && periodInWords(interval)
  if (isAlone) return period ?? 'in total'
  return `${period === undefined ? '' : `${period}, `}for this right alone`
}

/** One right: the element to show, and `choose`, which returns what the person allows of it, in a list of one or none. */
export function showRight({ access, interval, receiver, ...texts }, { isOptional, isAlone }) {
  const shown = document.getElementById('right').content.cloneNode(true).firstElementChild
  const [checkbox, details] = [shown.querySelector('[type=checkbox]'), shown.querySelector('dl')]
  const tell = (label, ...value) => details.append(element('dt', label), element('dd', ...value))
  shown.querySelector('legend').textContent = TITLES[access.type]
  shown.querySelector('ul').append(...access.actions.map((name) => element('li', ACTIONS[`${access.type} ${name}`])))
  if (!isOptional) checkbox.parentElement.remove()
  // In a field the Enter key would press the first button of the form, which approves.
  shown.addEventListener('keydown', (event) => {
    if (event.key === 'Enter') event.preventDefault()
  })

  const names = Object.keys(AMOUNTS).filter((name) => texts[name] !== undefined)
  const inputs = names.map((name) => amountInput(AMOUNTS[name], access.limits[name], texts[name]))
  const scope = scopeInWords(interval, isAlone)
  for (const [at, name] of names.entries())
    tell(AMOUNTS[name], inputs[at], ` ${access.limits[name].assetCode} ${scope}`)
  if (interval) {
    const { phase, windows, startsAt, endsAt } = interval
    // Counted back from an end, the first period may begin before the year 1, and would be shown like a year to come.
    const beginning = startsAt < 0 ? 'before 1970' : moment(startsAt, 'UTC')
    if (phase === 'ahead') tell('First period', `begins ${beginning}`)
    if (phase === 'current') tell(windows === undefined ? 'Present period' : 'First period', `began ${beginning}`)
    const ends = phase === 'over' ? 'ended' : 'ends'
    tell('Last period', endsAt !== undefined ? `${ends} ${moment(endsAt, 'UTC')}` : 'none, until you take it back')
  }
  if (access.type === 'outgoing-payment') {
    tell('To', element('bdi', receiver ?? 'anybody it chooses'))
    if (names.length === 0) shown.append(element('p', 'Take care: there is no limit. It could send all your money.'))
  }
  checkbox.addEventListener('change', () => {
    for (const input of inputs) input.disabled = !checkbox.checked
  })

  const choose = () => {
    if (!checkbox.checked) return []
    const limits = { ...access.limits }
    for (const [at, name] of names.entries()) {
      const value = String(smallestUnits(inputs[at].value, limits[name].assetScale))
      limits[name] = { ...limits[name], value }
    }
    return [access.limits ? { ...access, limits } : access]
  }
  return { shown, choose }
}
