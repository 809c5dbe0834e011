import { describe, expect, it } from 'vitest'
import { jsonReply } from '../key-resolver/fake-network.ts'
import { jsonOf, lines } from './internet.ts'
import { AUTH_SERVER, MANAGE, paymentDocument, RECEIVER, standIn, tokenDocument } from './stand-in.ts'

const OURS = 'https://us.example/wallet'
const refusal = (status: number) => jsonReply({ error: { code: 'invalid_client', description: '' } }, { status })

const clientOf = (connection: Parameters<typeof jsonOf>[0]): unknown =>
  Reflect.get(Object(jsonOf(connection)), 'client')

describe('a status of another server', () => {
  const READ = [`GET ${RECEIVER}`, `signed POST ${AUTH_SERVER}`, `signed GET ${RECEIVER}`]

  it.each([
    ['view', 404, 'unknown', 1],
    ['view', 410, 'unknown', 1],
    ['view', 400, 'refused', 1],
    ['view', 401, 'refused', 1],
    ['view', 301, 'unreachable', 1],
    ['view', 307, 'unreachable', 1],
    ['view', 204, 'unreachable', 1],
    ['view', 408, 'unreachable', 1],
    ['view', 429, 'unreachable', 1],
    ['view', 500, 'unreachable', 1],
    ['grant', 400, 'refused', 2],
    ['grant', 404, 'refused', 2],
    ['grant', 302, 'unreachable', 2],
    ['grant', 429, 'unreachable', 2],
    ['grant', 503, 'unreachable', 2],
    ['payment', 403, 'refused', 3],
    ['payment', 404, 'unknown', 3],
    ['payment', 400, 'refused', 3],
    ['payment', 302, 'unreachable', 3],
    ['payment', 502, 'unreachable', 3],
  ] as const)('T-3 of the %s that is %i means %s', async (step, status, reason, requests) => {
    const { world, answers, receivers } = standIn()
    answers[step] = ({ url }) => jsonReply(step === 'payment' ? paymentDocument(url.href) : tokenDocument(), { status })
    const found = await receivers.find(RECEIVER)
    const name = { view: 'public view', grant: `grant at ${AUTH_SERVER}`, payment: 'incoming payment' }[step]
    expect(found).toEqual({ ok: false, reason, detail: `${name}: status ${status}` })
    expect(lines(world)).toEqual(READ.slice(0, requests))
  })

  it.each(['view', 'grant', 'payment'] as const)('T-4 of the %s is not needed where nobody answers', async (step) => {
    const { answers, receivers } = standIn()
    answers[step] = () => {
      throw new Error('the connection was reset')
    }
    expect(await receivers.find(RECEIVER)).toMatchObject({ ok: false, reason: 'unreachable' })
    expect(await receivers.find(RECEIVER)).toMatchObject({ ok: false, reason: 'unreachable' })
  })

  it('QUO-9 of a grant that is put to a person means refused', async () => {
    const { world, answers, receivers } = standIn()
    answers.grant = () =>
      jsonReply({
        interact: { redirect: 'https://auth.example/ask', finish: 'x' },
        continue: { access_token: { value: 'x' }, uri: AUTH_SERVER, wait: 5 },
      })
    const detail = `grant at ${AUTH_SERVER}: needs a person`
    expect(await receivers.find(RECEIVER)).toEqual({ ok: false, reason: 'refused', detail })
    expect(lines(world)).toHaveLength(2)
  })
})

describe('a token that is refused', () => {
  it.each([401, 403])('with %i is asked for once more, of whom the public view names now', async (status) => {
    const { world, answers, receivers } = standIn()
    await receivers.find(RECEIVER)
    const revoked = world.connections.at(-1)?.headers['authorization']
    answers.payment = ({ headers, url }) =>
      headers['authorization'] === revoked ? refusal(status) : jsonReply(paymentDocument(url.href))
    answers.grant = () => jsonReply(tokenDocument('another'))
    world.connections.length = 0
    expect(await receivers.find(RECEIVER)).toMatchObject({ ok: true })
    expect(lines(world)).toEqual([
      `signed GET ${RECEIVER}`,
      `GET ${RECEIVER}`,
      `signed POST ${AUTH_SERVER}`,
      `signed GET ${RECEIVER}`,
    ])
    world.connections.length = 0
    await receivers.find(RECEIVER)
    expect(lines(world)).toEqual([`signed GET ${RECEIVER}`])
  })

  it('T-5 again and again is asked for once in each read', async () => {
    const { world, answers, receivers } = standIn()
    await receivers.find(RECEIVER)
    answers.payment = () => refusal(401)
    for (let round = 0; round < 3; round++) {
      world.connections.length = 0
      expect(await receivers.find(RECEIVER)).toMatchObject({ ok: false, reason: 'refused' })
      expect(lines(world).filter((line) => line.includes('POST'))).toEqual([`signed POST ${AUTH_SERVER}`])
      expect(world.connections.length).toBeLessThan(5)
    }
  })

  it('is not used for another payment of the same server either', async () => {
    const { world, answers, receivers } = standIn()
    answers.payment = () => refusal(401)
    await receivers.find(RECEIVER)
    answers.grant = () => jsonReply(tokenDocument('another'))
    answers.payment = ({ headers, url }) =>
      headers['authorization'] === 'GNAP another' ? jsonReply(paymentDocument(url.href)) : refusal(401)
    world.connections.length = 0
    expect(await receivers.find(`${RECEIVER}2`)).toMatchObject({ ok: true })
    expect(lines(world)).toEqual([
      `GET ${RECEIVER}2`,
      `signed GET ${RECEIVER}2`,
      `signed POST ${AUTH_SERVER}`,
      `signed GET ${RECEIVER}2`,
    ])
  })

  it.each([
    ['is refused', 404],
    ['fails', 500],
    ['is redirected', 302],
  ])('where its rotation %s is asked for anew', async (_, status) => {
    const { world, clock, answers, receivers } = standIn()
    await receivers.find(RECEIVER)
    answers.rotation = () => jsonReply(tokenDocument('rotated'), { status })
    clock.advance(600_000)
    world.connections.length = 0
    expect(await receivers.find(RECEIVER)).toMatchObject({ ok: true })
    expect(lines(world)).toEqual([`signed POST ${MANAGE}`, `signed POST ${AUTH_SERVER}`, `signed GET ${RECEIVER}`])
    expect(world.connections.at(-1)?.headers).not.toMatchObject({ authorization: 'GNAP rotated' })
  })

  it('is not shown there again, also where there is no other one yet', async () => {
    const { world, answers, receivers } = standIn()
    await receivers.find(RECEIVER)
    answers.payment = () => refusal(401)
    answers.grant = () => refusal(503)
    expect(await receivers.find(RECEIVER)).toMatchObject({ ok: false, reason: 'unreachable' })
    world.connections.length = 0
    expect(await receivers.find(RECEIVER)).toMatchObject({ ok: false, reason: 'unreachable' })
    expect(lines(world)).toEqual([`GET ${RECEIVER}`, `signed POST ${AUTH_SERVER}`])
  })

  it('is not that of another authorization server, where one server has several', async () => {
    const { world, answers, receivers } = standIn()
    const names = ['auth-1.example', 'auth-2.example']
    for (const name of names) world.hosts.set(name, () => jsonReply(tokenDocument(name)))
    const nameFor = (url: URL): string => names[Number(url.pathname.endsWith('2'))] ?? ''
    answers.view = ({ url }) => jsonReply({ authServer: `https://${nameFor(url)}` })
    answers.payment = ({ headers, url }) =>
      headers['authorization'] === `GNAP ${nameFor(url)}` ? jsonReply(paymentDocument(url.href)) : refusal(401)
    for (let round = 0; round < 2; round++)
      for (const url of [`${RECEIVER}1`, `${RECEIVER}2`])
        expect(await receivers.find(url)).toMatchObject({ ok: true, payment: { url } })
    expect(lines(world).filter((line) => line.includes('POST'))).toEqual(
      names.map((name) => `signed POST https://${name}/`),
    )
  })

  it('where its server has moved to another authorization server is asked for there', async () => {
    const { world, answers, receivers } = standIn()
    await receivers.find(RECEIVER)
    world.hosts.set('auth2.example', () => jsonReply(tokenDocument('moved')))
    answers.view = () => jsonReply({ authServer: 'https://auth2.example' })
    answers.payment = ({ headers, url }) =>
      headers['authorization'] === 'GNAP moved' ? jsonReply(paymentDocument(url.href)) : refusal(401)
    world.connections.length = 0
    expect(await receivers.find(RECEIVER)).toMatchObject({ ok: true })
    expect(lines(world)).toEqual([
      `signed GET ${RECEIVER}`,
      `GET ${RECEIVER}`,
      'signed POST https://auth2.example/',
      `signed GET ${RECEIVER}`,
    ])
    expect(await receivers.find(RECEIVER)).toMatchObject({ ok: true })
    expect(world.connections.at(-1)?.headers).toMatchObject({ authorization: 'GNAP moved' })
  })

  it('where its authorization server is gone for good is found again by the public view', async () => {
    const { world, clock, answers, receivers } = standIn()
    await receivers.find(RECEIVER)
    world.hosts.delete('auth.example')
    world.hosts.set('auth2.example', () => jsonReply(tokenDocument('moved')))
    answers.view = () => jsonReply({ authServer: 'https://auth2.example' })
    clock.advance(600_000)
    expect(await receivers.find(RECEIVER)).toMatchObject({ ok: false, reason: 'unreachable' })
    expect(await receivers.find(RECEIVER)).toMatchObject({ ok: true })
  })
})

describe('a server that knows no client by its key', () => {
  it.each([400, 401, 403, 422])('is asked as the wallet address of this server, after its %i', async (status) => {
    const { world, answers, receivers } = standIn({ clientWalletAddress: OURS })
    answers.grant = (connection) => (clientOf(connection) === OURS ? jsonReply(tokenDocument()) : refusal(status))
    expect(await receivers.find(RECEIVER)).toMatchObject({ ok: true })
    const [, first, second] = world.connections
    expect(first && clientOf(first)).toEqual({ jwk: expect.objectContaining({ kty: 'OKP' }) })
    expect(second && clientOf(second)).toBe(OURS)
    expect(lines(world)).toHaveLength(4)
  })

  it('is asked so at once the next time, and by the key again where that is refused one day', async () => {
    const { world, answers, receivers } = standIn({ clientWalletAddress: OURS })
    answers.grant = (connection) => (clientOf(connection) === OURS ? jsonReply(tokenDocument()) : refusal(400))
    await receivers.find(RECEIVER)
    const other = 'https://pay.example/shop/incoming-payments/1'
    world.connections.length = 0
    expect(await receivers.find(other)).toMatchObject({ ok: true })
    expect(lines(world)).toEqual([`GET ${other}`, `signed POST ${AUTH_SERVER}`, `signed GET ${other}`])
    answers.grant = (connection) => (clientOf(connection) === OURS ? refusal(400) : jsonReply(tokenDocument()))
    for (const [at, requests] of [4, 3].entries()) {
      world.connections.length = 0
      expect(await receivers.find(`https://pay.example/${at}/incoming-payments/1`)).toMatchObject({ ok: true })
      expect(lines(world)).toHaveLength(requests)
    }
  })

  it('is asked so at once also where another one that knows none has been asked meanwhile', async () => {
    const { world, answers, receivers } = standIn({ clientWalletAddress: OURS })
    answers.grant = (connection) => (clientOf(connection) === OURS ? jsonReply(tokenDocument()) : refusal(400))
    world.hosts.set('auth2.example', answers.grant)
    answers.view = ({ url }) =>
      jsonReply({ authServer: url.pathname.includes('/other') ? 'https://auth2.example' : AUTH_SERVER })
    const countOf = async (path: string): Promise<number> => {
      world.connections.length = 0
      expect(await receivers.find(`https://pay.example${path}/incoming-payments/1`)).toMatchObject({ ok: true })
      return world.connections.length
    }
    expect([await countOf('/one'), await countOf('/other-one'), await countOf('/two')]).toEqual([4, 4, 3])
  })

  it('cannot be read where this server has no wallet address', async () => {
    const { world, answers, receivers } = standIn()
    answers.grant = (connection) => (clientOf(connection) === OURS ? jsonReply(tokenDocument()) : refusal(400))
    const detail = `grant at ${AUTH_SERVER}: status 400`
    expect(await receivers.find(RECEIVER)).toEqual({ ok: false, reason: 'refused', detail })
    expect(lines(world)).toHaveLength(2)
  })

  it.each([500, 429, 302])('is not told from one that fails: after a %i it is asked once', async (status) => {
    const { world, answers, receivers } = standIn({ clientWalletAddress: OURS })
    answers.grant = () => refusal(status)
    expect(await receivers.find(RECEIVER)).toMatchObject({ ok: false, reason: 'unreachable' })
    expect(lines(world)).toHaveLength(2)
  })

  it('T-5 is asked twice at most, where it refuses everybody', async () => {
    const { world, answers, receivers } = standIn({ clientWalletAddress: OURS })
    answers.grant = () => refusal(400)
    for (const _ of ['first', 'again']) {
      world.connections.length = 0
      expect(await receivers.find(RECEIVER)).toMatchObject({ ok: false, reason: 'refused' })
      expect(lines(world)).toHaveLength(3)
      // By the key first each time: the other way has not worked either.
      const [, first] = world.connections
      expect(first && clientOf(first)).toEqual({ jwk: expect.objectContaining({ kty: 'OKP' }) })
    }
  })
})
