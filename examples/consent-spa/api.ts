import type { IncomingMessage, RequestListener, ServerResponse } from 'node:http'
import type { DecidedInteraction, Interactions } from 'open-payments-server'
import type { Sessions } from './sessions.ts'

const STATUSES = {
  unknown: 404,
  expired: 410,
  used: 410,
  other_session: 403,
  bad_csrf: 403,
  not_owner: 403,
  wider_access: 400,
} as const

/**
 * What the page calls:
 *
 *     POST   /api/session                    { name, password }
 *     DELETE /api/session
 *     GET    /api/interactions/{reference}   -> { consent, csrf }
 *     POST   /api/interactions/{reference}   { decision: 'approve', csrf, access } or { decision: 'deny', csrf }
 *                                            -> { redirect }
 *
 * Whatever fails is answered with { reason }.
 */
export function createApi(interactions: Interactions, sessions: Sessions): RequestListener {
  const answer = async (request: IncomingMessage, response: ServerResponse): Promise<void> => {
    const { method, url = '', headers } = request
    const send = (status: number, body: object): void => {
      response.writeHead(status, { 'content-type': 'application/json', 'cache-control': 'no-store' })
      response.end(JSON.stringify(body))
    }
    // Browsers say where a request comes from, and no page can make them say otherwise. So no other site can log
    // anybody in, open an interaction or decide it, whatever cookies there are.
    if (headers['sec-fetch-site'] !== 'same-origin') return send(403, { reason: 'other_site' })
    const body = method === 'POST' ? await readObject(request) : {}
    if (body === undefined) return send(400, { reason: 'bad_body' })

    if (url === '/api/session') {
      const logIn = () => sessions.logIn(textOf(body['name']), textOf(body['password']), headers.cookie)
      const cookie = method === 'DELETE' ? sessions.logOut(headers.cookie) : logIn()
      if (cookie === undefined) return send(401, { reason: 'wrong_password' })
      response.setHeader('set-cookie', cookie)
      return send(200, {})
    }

    const [, reference = ''] = /^\/api\/interactions\/([\w-]+)$/.exec(url) ?? []
    const owner = sessions.find(headers.cookie)
    if (owner === undefined) return send(401, { reason: 'logged_out' })
    if (method === 'GET') {
      const opened = await interactions.find(reference, owner)
      return opened.ok ? send(200, opened) : send(STATUSES[opened.reason], opened)
    }
    const decider = { ...owner, csrf: textOf(body['csrf']) }
    const { access, decision } = body
    const conclude = (decided: DecidedInteraction) =>
      decided.ok ? send(200, decided) : send(STATUSES[decided.reason], decided)
    if (decision === 'deny') return conclude(await interactions.deny(reference, decider))
    // The library also accepts `'all'`. Here the page has to name what the person saw and chose.
    if (decision !== 'approve' || !Array.isArray(access)) return send(400, { reason: 'bad_body' })
    // The library refuses any list that is wider than what was asked.
    return conclude(await interactions.approve(reference, { ...decider, access }))
  }
  return (request, response) => {
    answer(request, response).catch((error: unknown) => {
      console.error(error)
      response.writeHead(500).end()
    })
  }
}

/** A JSON object of a few kilobytes; `undefined` if the body is anything else. */
async function readObject(request: IncomingMessage): Promise<Readonly<Record<string, unknown>> | undefined> {
  let text = ''
  for await (const chunk of request.setEncoding('utf8')) {
    text += chunk
    if (text.length > 16_384) return undefined
  }
  try {
    const body = JSON.parse(text)
    return typeof body === 'object' && body !== null ? body : undefined
  } catch {
    return undefined
  }
}

function textOf(value: unknown): string {
  return typeof value === 'string' ? value : ''
}
