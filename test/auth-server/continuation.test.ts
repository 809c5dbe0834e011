import { memoryStorage } from 'open-payments-server/storage/memory'
import { alterRequest, type InMemoryRequest } from 'open-payments-server/testing'
import { describe, expect, it } from 'vitest'
import { fakeClock } from '../support/fake-clock.ts'
import { lastSegment } from '../support/last-segment.ts'
import { ALICE, type Answer, AUTH, addClient, CLIENT, decideAs, referenceOf } from '../support/test-wallet.ts'
import {
  approvedGrant,
  authWallet,
  CONSENT_REQUEST,
  cancel,
  PLAIN_REQUEST,
  POLLING_REQUEST,
  resume,
  revoke,
  rotate,
  tokenStatus,
} from './auth-wallet.ts'

describe('continuing a grant', () => {
  it('1.2 answers the token of an approved grant, and a continuation', async () => {
    const wallet = await authWallet()
    const { pending, interactRef } = await approvedGrant(wallet)
    const issued = await resume(wallet, pending, { interact_ref: interactRef })
    expect(issued.status).toBe(200)
    expect(issued.body.access_token).toMatchObject({ expires_in: 600, access: CONSENT_REQUEST.access_token.access })
    expect(issued.body.continue).toEqual({
      access_token: pending.body.continue.access_token,
      uri: pending.body.continue.uri,
    })
    expect(pending.body.continue).toMatchObject({ wait: 5 })
  })

  it('1.2 needs nothing once the token is issued that a process with other secrets does not have', async () => {
    const storage = memoryStorage()
    const wallet = await authWallet({ storage })
    const { pending, interactRef } = await approvedGrant(wallet)
    const other = await authWallet({
      storage,
      clock: wallet.clock,
      secrets: ['another secret of the tests, long enough'],
    })
    const shop = wallet.directory.get(CLIENT)
    if (shop !== undefined) other.directory.set(CLIENT, shop)
    const issued = await resume(other, pending, { interact_ref: interactRef }, { as: wallet.client })
    expect(issued.status).toBe(200)
    expect(issued.body.continue.access_token).toEqual(pending.body.continue.access_token)
  })

  it('D14 an unknown id is 404 invalid_continuation', async () => {
    const wallet = await authWallet()
    const { pending, interactRef } = await approvedGrant(wallet)
    for (const id of ['0'.repeat(32), 'x', '..%2f', lastSegment(pending.body.continue.uri).toUpperCase()]) {
      const strange = {
        ...pending,
        body: { ...pending.body, continue: { ...pending.body.continue, uri: `${AUTH}/continue/${id}` } },
      }
      await wallet.expectRefusal(404, 'invalid_continuation', () =>
        resume(wallet, strange, { interact_ref: interactRef }),
      )
      await wallet.expectRefusal(404, 'invalid_request', () => cancel(wallet, strange))
    }
    expect((await resume(wallet, pending, { interact_ref: interactRef })).status).toBe(200)
  })

  it('D14 a known id with another continuation token is 401 invalid_continuation', async () => {
    const wallet = await authWallet()
    const { pending, interactRef } = await approvedGrant(wallet)
    const other = await wallet.ask(CONSENT_REQUEST)
    for (const token of ['x', other.body.continue.access_token.value, `${pending.body.continue.access_token.value}=`]) {
      await wallet.expectRefusal(401, 'invalid_continuation', () =>
        resume(wallet, pending, { interact_ref: interactRef }, { token }),
      )
      await wallet.expectRefusal(401, 'invalid_continuation', () => cancel(wallet, pending, { token }))
    }
    expect((await resume(wallet, pending, { interact_ref: interactRef })).status).toBe(200)
  })

  it.each([
    ['absent', []],
    ['of another scheme', ['Bearer TOKEN']],
    ['without a token', ['GNAP ']],
    ['with two tokens', ['GNAP TOKEN TOKEN']],
    ['with two spaces', ['GNAP  TOKEN']],
    ['of two lines', ['GNAP TOKEN', 'GNAP TOKEN']],
    ['with something behind it', ['GNAP TOKEN, GNAP x']],
  ])('RS-2 CON-1 an Authorization header that is %s is 401 invalid_client', async (_name, lines) => {
    const wallet = await authWallet()
    const { pending, interactRef } = await approvedGrant(wallet)
    const { value } = pending.body.continue.access_token
    const authorization = lines.map((line) => line.replaceAll('TOKEN', value))
    const alter = (request: InMemoryRequest): InMemoryRequest => alterRequest(request, { headers: { authorization } })
    const json = { interact_ref: interactRef }
    await wallet.expectRefusal(401, 'invalid_client', () => resume(wallet, pending, json, { alter }))
    await wallet.expectRefusal(401, 'invalid_client', () => cancel(wallet, pending, { alter }))
    expect((await resume(wallet, pending, json)).status).toBe(200)
  })

  it('RS-2 the scheme may be written in any case', async () => {
    const wallet = await authWallet()
    const { pending, interactRef } = await approvedGrant(wallet)
    const { value } = pending.body.continue.access_token
    const answer = await wallet.send('POST', pending.body.continue.uri, {
      headers: { authorization: `gnap ${value}` },
      json: { interact_ref: interactRef },
    })
    expect(answer.status).toBe(200)
  })

  it.each([{ interact_ref: 7 }, { interact_ref: 'x'.repeat(257) }, [], null, 'text'])(
    'EMB-3 a body that is %j is 400 invalid_request, and no poll',
    async (json) => {
      const wallet = await authWallet()
      const { pending, interactRef } = await approvedGrant(wallet)
      await wallet.expectRefusal(400, 'invalid_request', () => resume(wallet, pending, json))
      expect((await resume(wallet, pending, { interact_ref: interactRef })).status).toBe(200)
    },
  )

  it('INT-14 a reference of 256 characters is read, and found to be wrong', async () => {
    const wallet = await authWallet()
    const { pending } = await approvedGrant(wallet)
    const refusal = await resume(wallet, pending, { interact_ref: 'x'.repeat(256) })
    expect([refusal.status, refusal.body.error.code]).toEqual([404, 'invalid_continuation'])
  })

  it('CON-1 another client with the right token is refused', async () => {
    const wallet = await authWallet()
    const { pending, interactRef } = await approvedGrant(wallet)
    const thief = await addClient(wallet, 'thief')
    const sameKid = { ...thief, key: { ...thief.key, keyId: wallet.client.key.keyId } }
    for (const [as, status] of [
      [thief, 400],
      [sameKid, 401],
    ] as const) {
      await wallet.expectRefusal(status, 'invalid_client', () =>
        resume(wallet, pending, { interact_ref: interactRef }, { as }),
      )
      await wallet.expectRefusal(status, 'invalid_client', () => cancel(wallet, pending, { as }))
    }
    expect((await resume(wallet, pending, { interact_ref: interactRef })).status).toBe(200)
  })

  it('CON-1 T-22 the interaction reference of another grant is refused, and both go on', async () => {
    const wallet = await authWallet()
    const mine = await approvedGrant(wallet)
    const other = await approvedGrant(wallet)
    const crossed = await resume(wallet, mine.pending, { interact_ref: other.interactRef })
    expect([crossed.status, crossed.body.error.code]).toEqual([404, 'invalid_continuation'])
    expect((await resume(wallet, mine.pending, { interact_ref: mine.interactRef })).status).toBe(200)
    expect((await resume(wallet, other.pending, { interact_ref: other.interactRef })).status).toBe(200)
  })

  it('CON-2 an access token continues nothing, and a continuation token is no access token', async () => {
    const wallet = await authWallet()
    const grant = await wallet.ask(PLAIN_REQUEST)
    const token = grant.body.access_token.value
    await wallet.expectRefusal(401, 'invalid_continuation', () => resume(wallet, grant, undefined, { token }))
    await wallet.expectRefusal(401, 'invalid_continuation', () => cancel(wallet, grant, { token }))
    const continuation = grant.body.continue.access_token.value
    await wallet.expectRefusal(404, 'invalid_rotation', () => rotate(wallet, grant, { token: continuation }))
    expect(await tokenStatus(wallet, continuation)).toBe(401)
    expect(await tokenStatus(wallet, token)).toBe(200)
  })

  it('CON-3 a continuation before its time is 400 too_fast, and does not begin the wait anew', async () => {
    const wallet = await authWallet()
    const pending = await wallet.ask(CONSENT_REQUEST)
    const interactRef = (await decideAs(wallet, pending))?.searchParams.get('interact_ref')
    wallet.clock.advance(4_999)
    for (const json of [{ interact_ref: interactRef }, undefined]) {
      const refusal = await wallet.expectRefusal(400, 'too_fast', () => resume(wallet, pending, json))
      expect(refusal.headers['retry-after']).toBe('1')
    }
    wallet.clock.advance(1)
    expect((await resume(wallet, pending, { interact_ref: interactRef })).status).toBe(200)
  })

  it('CON-3 each answer to a poll begins the wait anew', async () => {
    const wallet = await authWallet({ settings: { lifetimes: { continuationWaitSeconds: 30 } } })
    const pending = await wallet.ask(POLLING_REQUEST)
    expect(pending.body.continue.wait).toBe(30)
    await wallet.expectRefusal(400, 'too_fast', () => resume(wallet, pending))
    // Late, so that a wait from the earlier deadline would be over too soon.
    wallet.clock.advance(60_000)
    const waiting = await resume(wallet, pending)
    expect(waiting.body).toEqual({ continue: { ...pending.body.continue, wait: 30 } })
    await decideAs(wallet, pending)
    wallet.clock.advance(29_999)
    await wallet.expectRefusal(400, 'too_fast', () => resume(wallet, pending))
    wallet.clock.advance(1)
    expect((await resume(wallet, pending)).body.access_token.value).toBeDefined()
  })

  it('CON-3 a wait that a clock which ran ahead has begun keeps nobody waiting longer than two waits last', async () => {
    const wallet = await authWallet()
    const pending = await wallet.ask(POLLING_REQUEST)
    wallet.clock.advance(-5000)
    await wallet.expectRefusal(400, 'too_fast', () => resume(wallet, pending))
    wallet.clock.advance(-1)
    expect((await resume(wallet, pending)).status).toBe(200)
    wallet.clock.advance(60_000)
    expect((await resume(wallet, pending)).status).toBe(200)
    await decideAs(wallet, pending)
    wallet.clock.advance(-60_000)
    expect((await resume(wallet, pending)).body.access_token.value).toBeDefined()
  })

  it.each([
    ['absent', {}],
    ['empty', { body: '' }],
    ['an empty object', { json: {} }],
    ['an object of other members', { json: { client: 'https://shop.example/pay' } }],
  ])('CON-7 DIG-8 the body of a poll may be %s', async (_name, sending) => {
    const wallet = await authWallet()
    const pending = await wallet.ask(POLLING_REQUEST)
    wallet.clock.advance(5_000)
    expect((await resume(wallet, pending, undefined, sending)).body).toEqual({ continue: pending.body.continue })
    await decideAs(wallet, pending)
    wallet.clock.advance(5_000)
    expect((await resume(wallet, pending, undefined, sending)).body.access_token.value).toBeDefined()
  })

  it('1.2 a poll while finish is registered is 401 request_denied, before and after approval', async () => {
    const wallet = await authWallet()
    const pending = await wallet.ask(CONSENT_REQUEST)
    wallet.clock.advance(5_000)
    for (const json of [undefined, {}]) {
      await wallet.expectRefusal(401, 'request_denied', () => resume(wallet, pending, json))
    }
    const interactRef = (await decideAs(wallet, pending))?.searchParams.get('interact_ref')
    await wallet.expectRefusal(401, 'request_denied', () => resume(wallet, pending))
    expect((await resume(wallet, pending, { interact_ref: interactRef })).status).toBe(200)
  })

  it('1.2 an interaction reference before approval is 401 request_denied', async () => {
    const wallet = await authWallet()
    const pending = await wallet.ask(CONSENT_REQUEST)
    wallet.clock.advance(5_000)
    const early = await resume(wallet, pending, { interact_ref: referenceOf(pending) })
    expect([early.status, early.body.error.code]).toEqual([401, 'request_denied'])
    const interactRef = (await decideAs(wallet, pending))?.searchParams.get('interact_ref')
    expect((await resume(wallet, pending, { interact_ref: interactRef })).status).toBe(200)
  })

  it('1.2 INT-14 a reference to a grant that polls is wrong, before and after approval, and polling goes on', async () => {
    const wallet = await authWallet()
    const pending = await wallet.ask(POLLING_REQUEST)
    wallet.clock.advance(5_000)
    const guess = async (): Promise<readonly unknown[]> => {
      const { status, body } = await resume(wallet, pending, { interact_ref: 'wrong' })
      return [status, body.error.code]
    }
    expect(await guess()).toEqual([401, 'request_denied'])
    await decideAs(wallet, pending)
    expect(await guess()).toEqual([404, 'invalid_continuation'])
    expect((await resume(wallet, pending)).body.access_token.value).toBeDefined()
  })

  it.each(['result', 'gnap'] as const)(
    'D7 a grant that its owner denied is 401 request_denied, with finishOnDenial %s',
    async (finishOnDenial) => {
      const wallet = await authWallet({ settings: { policies: { finishOnDenial } } })
      const pending = await wallet.ask(CONSENT_REQUEST)
      const redirect = await decideAs(wallet, pending, 'deny')
      // At once: there is nothing left to wait for.
      await wallet.expectRefusal(401, 'request_denied', () => resume(wallet, pending))
      wallet.clock.advance(5_000)
      const interactRef = redirect?.searchParams.get('interact_ref') ?? 'none'
      for (const json of [{ interact_ref: interactRef }, undefined]) {
        await wallet.expectRefusal(401, 'request_denied', () => resume(wallet, pending, json))
      }
      const polling = await wallet.ask(POLLING_REQUEST)
      expect(await decideAs(wallet, polling, 'deny')).toBeUndefined()
      wallet.clock.advance(5_000)
      await wallet.expectRefusal(401, 'request_denied', () => resume(wallet, polling))
    },
  )

  it('INT-14 T-21 the sixth wrong reference ends the grant', async () => {
    const wallet = await authWallet()
    const { pending, interactRef } = await approvedGrant(wallet)
    for (let tries = 0; tries < 6; tries++) {
      const wrong = await resume(wallet, pending, { interact_ref: `${interactRef}${tries}` })
      expect([wrong.status, wrong.body.error.code]).toEqual([404, 'invalid_continuation'])
    }
    await wallet.expectRefusal(404, 'invalid_continuation', () =>
      resume(wallet, pending, { interact_ref: interactRef }),
    )
  })

  it('INT-14 the sixth wrong reference ends a grant that nobody has decided, too, and its client is told so', async () => {
    const wallet = await authWallet()
    const pending = await wallet.ask(CONSENT_REQUEST)
    wallet.clock.advance(5_000)
    const answers: (readonly unknown[])[] = []
    for (let tries = 0; tries < 6; tries++) {
      const { status, body } = await resume(wallet, pending, { interact_ref: `wrong-${tries}` })
      answers.push([status, body.error.code])
    }
    const undecided = Array.from({ length: 5 }, () => [401, 'request_denied'])
    expect(answers).toEqual([...undecided, [404, 'invalid_continuation']])
    await expect(decideAs(wallet, pending)).rejects.toThrow('unknown')
  })

  it('INT-14 five wrong references do not end it, nor do parallel ones count for one', async () => {
    const wallet = await authWallet()
    const { pending, interactRef } = await approvedGrant(wallet)
    const guess = (grant: Answer, count: number): Promise<readonly Answer[]> =>
      Promise.all(Array.from({ length: count }, (_, at) => resume(wallet, grant, { interact_ref: `wrong-${at}` })))
    await guess(pending, 5)
    expect((await resume(wallet, pending, { interact_ref: interactRef })).status).toBe(200)
    const second = await approvedGrant(wallet)
    await guess(second.pending, 6)
    await wallet.expectRefusal(404, 'invalid_continuation', () =>
      resume(wallet, second.pending, { interact_ref: second.interactRef }),
    )
  })

  it('INT-14 wrong references before and after approval count together', async () => {
    const wallet = await authWallet()
    const pending = await wallet.ask(CONSENT_REQUEST)
    wallet.clock.advance(5_000)
    const guess = async (): Promise<void> => {
      for (let tries = 0; tries < 3; tries++) await resume(wallet, pending, { interact_ref: `wrong-${tries}` })
    }
    await guess()
    const interactRef = (await decideAs(wallet, pending))?.searchParams.get('interact_ref')
    await guess()
    await wallet.expectRefusal(404, 'invalid_continuation', () =>
      resume(wallet, pending, { interact_ref: interactRef }),
    )
  })

  it('CON-9 GRT-17 a grant that ended by wrong references does not change when it is swept', async () => {
    const wallet = await authWallet()
    const { pending } = await approvedGrant(wallet)
    for (let tries = 0; tries < 6; tries++) await resume(wallet, pending, { interact_ref: `wrong-${tries}` })
    const ended = (await wallet.records()).filter(({ kind }) => kind === 'grant')
    expect(ended).toEqual([
      expect.objectContaining({ value: expect.objectContaining({ state: 'finalised', finalisation: 'revoked' }) }),
    ])
    wallet.clock.advance(3_600_000)
    await wallet.openPayments.sweep()
    expect((await wallet.records()).filter(({ kind }) => kind === 'grant')).toEqual(ended)
  })
})

describe('the answer to a continuation that got lost', () => {
  it('CON-5 is given again for 60 seconds, the same token', async () => {
    const wallet = await authWallet()
    const { pending, interactRef } = await approvedGrant(wallet)
    const first = await resume(wallet, pending, { interact_ref: interactRef })
    const before = await wallet.records()
    wallet.clock.advance(59_999)
    const again = await resume(wallet, pending, { interact_ref: interactRef })
    expect(again.body).toEqual({
      ...first.body,
      access_token: { ...first.body.access_token, expires_in: 540 },
    })
    expect(await wallet.records()).toEqual(before)
    wallet.clock.advance(1)
    await wallet.expectRefusal(404, 'invalid_continuation', () =>
      resume(wallet, pending, { interact_ref: interactRef }),
    )
  })

  it('CON-5 is given again though its token has expired since', async () => {
    const wallet = await authWallet({ settings: { lifetimes: { accessTokenSeconds: 20 } } })
    const { pending, interactRef } = await approvedGrant(wallet)
    const first = await resume(wallet, pending, { interact_ref: interactRef })
    wallet.clock.advance(30_000)
    const again = await resume(wallet, pending, { interact_ref: interactRef })
    expect(again.body.access_token).toEqual({ ...first.body.access_token, expires_in: 0 })
    expect((await rotate(wallet, again)).status).toBe(200)
  })

  it('CON-5 is given again whatever the clock does between two of its readings', async () => {
    const clock = fakeClock()
    const now = (): number => {
      clock.advance(1)
      return clock.now()
    }
    const wallet = await authWallet({ clock: { ...clock, now } })
    const { pending, interactRef } = await approvedGrant(wallet)
    clock.advance(5_000)
    const first = await resume(wallet, pending, { interact_ref: interactRef })
    const again = await resume(wallet, pending, { interact_ref: interactRef })
    expect([first.status, again.status]).toEqual([200, 200])
    expect(again.body.access_token.value).toBe(first.body.access_token.value)
  })

  it('CON-5 is given again to a client that polls', async () => {
    const wallet = await authWallet()
    const { pending } = await approvedGrant(wallet, POLLING_REQUEST)
    const first = await resume(wallet, pending)
    expect((await resume(wallet, pending, {})).body).toEqual(first.body)
    wallet.clock.advance(60_000)
    await wallet.expectRefusal(404, 'invalid_continuation', () => resume(wallet, pending))
  })

  it('CON-5 is not given for another reference, nor for none', async () => {
    const wallet = await authWallet()
    const { pending, interactRef } = await approvedGrant(wallet)
    await resume(wallet, pending, { interact_ref: interactRef })
    for (const json of [{ interact_ref: 'wrong' }, {}, undefined]) {
      await wallet.expectRefusal(404, 'invalid_continuation', () => resume(wallet, pending, json))
    }
  })

  it('CON-5 is not given for a reference where the client polls', async () => {
    const wallet = await authWallet()
    const { pending } = await approvedGrant(wallet, POLLING_REQUEST)
    const first = await resume(wallet, pending)
    const json = { interact_ref: 'wrong' }
    await wallet.expectRefusal(404, 'invalid_continuation', () => resume(wallet, pending, json))
    expect((await resume(wallet, pending)).body).toEqual(first.body)
  })

  it('CON-5 is not given once the token was rotated or revoked', async () => {
    const wallet = await authWallet()
    for (const finish of [rotate, revoke]) {
      const { pending, interactRef } = await approvedGrant(wallet)
      const issued = await resume(wallet, pending, { interact_ref: interactRef })
      // In the same millisecond.
      expect((await finish(wallet, issued)).status).toBeLessThan(300)
      await wallet.expectRefusal(404, 'invalid_continuation', () =>
        resume(wallet, pending, { interact_ref: interactRef }),
      )
    }
  })

  it('CON-6 a grant that was issued at once is continued by cancelling it alone', async () => {
    const wallet = await authWallet()
    const grant = await wallet.ask(PLAIN_REQUEST)
    for (const json of [undefined, {}, { interact_ref: 'x' }]) {
      await wallet.expectRefusal(404, 'invalid_continuation', () => resume(wallet, grant, json))
    }
    expect((await cancel(wallet, grant)).status).toBe(204)
  })

  it.each([
    ['inactive by then', { isActive: false }],
    ['of another account by then', { account: 'bob' }],
  ])('CON-5 RS-13 a repeat confirms no subject whose wallet address is %s', async (_, change) => {
    const wallet = await authWallet()
    const subject = { sub_ids: [{ id: ALICE, format: 'uri' }] }
    const { interact, client } = CONSENT_REQUEST
    const { pending, interactRef } = await approvedGrant(wallet, { interact, client, subject })
    const repeat = () => resume(wallet, pending, { interact_ref: interactRef })
    expect((await repeat()).body.subject).toEqual(subject)
    const alice = wallet.directory.get(ALICE)
    if (alice === undefined) throw new Error('Alice is missing')
    wallet.directory.set(ALICE, { ...alice, ...change })
    await wallet.expectRefusal(401, 'request_denied', repeat)
    wallet.directory.set(ALICE, alice)
    expect((await repeat()).body.subject).toEqual(subject)
  })
})
