/** A person with a browser, as far as the sandbox's pages need one: cookies, forms, redirects. */
interface Page {
  readonly url: string
  readonly status: number
  readonly body: string
  /** Where a redirect to another origin leads; this browser does not follow it. */
  readonly leavesTo?: string
}

type Fields = Readonly<Record<string, string>>

const ENTITIES: Readonly<Record<string, string>> = { amp: '&', lt: '<', gt: '>', quot: '"' }

function decodeText(text: string): string {
  return text.replace(/&(?:#(\d+)|(\w+));/g, (whole, code, name) =>
    code ? String.fromCodePoint(Number(code)) : (ENTITIES[name] ?? whole),
  )
}

function attribute(tag: string, name: string): string | undefined {
  const value = new RegExp(`\\s${name}="([^"]*)"`).exec(tag)?.[1]
  return value === undefined ? undefined : decodeText(value)
}

function createBrowser(origin: string) {
  const cookies = new Map<string, string>()

  const visit = async (url: string, form?: Fields): Promise<Page> => {
    const response = await fetch(url, {
      redirect: 'manual',
      headers: { cookie: [...cookies].map(([name, value]) => `${name}=${value}`).join('; ') },
      ...(form && { method: 'POST', body: new URLSearchParams(form) }),
    })
    for (const cookie of response.headers.getSetCookie()) {
      const [, name = '', value = ''] = /^([^=]+)=([^;]*)/.exec(cookie) ?? []
      cookies.set(name, value)
    }
    const body = await response.text()
    const location = response.headers.get('location')
    if (location === null) return { url, status: response.status, body }
    const next = new URL(location, url)
    return next.origin === origin ? visit(next.href) : { url, status: response.status, body, leavesTo: next.href }
  }

  /** Sends the one form of a page with its hidden fields and the given ones. */
  const submit = (page: Page, fields: Fields): Promise<Page> => {
    const form = /<form\s[^>]*>/.exec(page.body)?.[0]
    if (form === undefined) throw new Error(`there is no form on ${page.url}: ${page.body}`)
    const hidden = [...page.body.matchAll(/<input\s[^>]*type="hidden"[^>]*>/g)].map(([tag]) => [
      attribute(tag, 'name') ?? '',
      attribute(tag, 'value') ?? '',
    ])
    return visit(new URL(attribute(form, 'action') ?? '', page.url).href, { ...Object.fromEntries(hidden), ...fields })
  }

  return { visit, submit }
}

/**
 * Does what a person does at an interaction URL: logs in if asked to, reads the page and answers it. Resolves with the
 * URL that the browser is sent to in the end, or `undefined` if it stays.
 */
export async function answerAsPerson(
  url: string,
  credentials: Fields,
  decision: 'approve' | 'deny',
): Promise<string | undefined> {
  const { visit, submit } = createBrowser(new URL(url).origin)
  let page = await visit(url)
  if (page.body.includes('type="password"')) page = await submit(page, credentials)
  const answered = await submit(page, { decision })
  if (answered.status >= 400) throw new Error(`the answer was refused: ${answered.body}`)
  return answered.leavesTo
}
