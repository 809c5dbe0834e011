/** Logs in, reads the question and approves; answers where the browser is sent to then. */
export async function approve(interactUrl: string, credentials: Record<string, string>): Promise<string> {
  const asked = await fetch(interactUrl, { redirect: 'manual' })
  const login = new URL(asked.headers.get('location') ?? '', interactUrl)
  const entered = await fetch(login, { method: 'POST', redirect: 'manual', body: new URLSearchParams(credentials) })
  const cookie = entered.headers
    .getSetCookie()
    .map((line) => line.split(';', 1)[0])
    .join('; ')
  const page = await (await fetch(interactUrl, { headers: { cookie } })).text()
  const csrf = /name="csrf" value="([^"]*)"/.exec(page)?.[1] ?? ''
  const body = new URLSearchParams({ csrf, decision: 'approve' }) // or deny
  const answered = await fetch(interactUrl, { method: 'POST', redirect: 'manual', headers: { cookie }, body })
  return answered.headers.get('location') ?? ''
}
