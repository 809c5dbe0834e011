import {
  type Access,
  createOpenPayments,
  type OpenPayments,
  type RecordTypes,
  type Storage,
} from 'open-payments-server'
import {
  createSigningKey,
  type SignedRequestOptions,
  type SigningKey,
  signedRequest,
} from 'open-payments-server/testing'
import { describe, expect, it } from 'vitest'
import { recordsOfKind } from '../../src/records/read-record.ts'
import type { AnswerBody } from '../support/answer-body.ts'
import { bodyText } from '../support/body-text.ts'
import { fakeClock } from '../support/fake-clock.ts'
import { interleavedStorage } from '../support/interleaved-storage.ts'
import { lastSegment } from '../support/last-segment.ts'
import { NO_PAGE } from '../support/no-page.ts'
import { randomNumbers } from '../support/random-numbers.ts'
import { recordedStorage } from '../support/recorded-storage.ts'
import {
  ALICE,
  AUTH,
  BASE,
  CLIENT,
  cryptography,
  FINISH,
  NO_NETWORK,
  SECRET,
  testLedger,
  usd,
} from '../support/test-wallet.ts'
import { PROPERTY_MILLISECONDS } from './property-parameters.ts'

const { PROPERTY_RUNS = '1', PROPERTY_SEED = '20260301' } = process.env
const RUNS = Math.ceil(80 * Number(PROPERTY_RUNS))
const FIRST = Number(PROPERTY_SEED)
const STEPS = 60

const ALL: readonly Access[] = [
  {
    type: 'outgoing-payment',
    actions: ['create', 'read'],
    identifier: ALICE,
    limits: { debitAmount: usd('100') },
  },
  { type: 'quote', actions: ['create'] },
]
const PART: readonly Access[] = [
  { type: 'outgoing-payment', actions: ['create'], identifier: ALICE, limits: { debitAmount: usd('40') } },
]

/** Two keys of the client, and one of somebody else that passes for the second. */
const keys = Promise.all(['k1', 'k2', 'k2'].map((kid) => createSigningKey(cryptography, kid)))

/** What must hold of the only grant after each commit, whoever wrote it; remembers what may never change again. */
function watchGrant() {
  const pins = new Map<string, string>()
  let final: string | undefined
  return (grant: RecordTypes['grant'], tokens: readonly RecordTypes['access-token'][]): void => {
    const active = tokens.filter(({ state }) => state === 'active')
    expect(active.map(({ id }) => id)).toEqual(grant.state === 'issued' ? [grant.tokenId] : [])
    for (const { access, keys } of active) expect({ access, keys }).toEqual({ access: grant.access, keys: grant.keys })
    if (grant.state === 'approved' || grant.state === 'issued') {
      expect([ALL, PART]).toContainEqual(grant.access)
      expect(grant.decidedAt).toBeDefined()
    }
    for (const { kid, thumbprint } of grant.keys) {
      expect(pins.get(kid) ?? thumbprint).toBe(thumbprint)
      pins.set(kid, thumbprint)
    }
    expect(grant.keys.map(({ kid }) => kid).toSorted()).toEqual([...pins.keys()].toSorted())
    if (final !== undefined) expect(JSON.stringify(grant)).toBe(final)
    if (grant.state === 'finalised') final = JSON.stringify(grant)
  }
}

/** Draws by a seed, the same for the same seed. */
function draws(seed: number) {
  const random = randomNumbers(seed)
  const oneOf = <T>(first: T, ...others: readonly T[]): T =>
    others[Math.floor(random() * (others.length + 1)) - 1] ?? first
  return { oneOf, isDrawn: (chance: number): boolean => random() < chance }
}

/**
 * Everybody who has to do with one grant, at the same time: two browser sessions of its owner, its client with one key or
 * another, and who sweeps. Three processes, whose clocks differ; commits are lost, or not answered. Answers how often it met
 * what.
 */
async function play(seed: number): Promise<ReadonlyMap<string, number>> {
  const { oneOf, isDrawn } = draws(seed)
  const met = new Map<string, number>()
  const meet = (what: string): void => void met.set(what, (met.get(what) ?? 0) + 1)
  const clock = fakeClock()
  const [own, second, foreign] = (await keys) as [SigningKey, SigningKey, SigningKey]
  let published: readonly SigningKey[] = [own]
  const watch = watchGrant()
  const failures: unknown[] = []
  const fail = (failure: unknown): void => void failures.push(failure)
  const recorded = recordedStorage()
  /** That of the grant; a request for one that was not answered may have left others. */
  let grantId: string | undefined
  const look = async (): Promise<void> => {
    const records = await recorded.records()
    const grant = recordsOfKind(records, 'grant').find(({ value }) => value.id === grantId)
    const tokens = recordsOfKind(records, 'access-token').map(({ value }) => value)
    if (grant !== undefined) watch(grant.value, tokens)
  }
  const storage: Storage = {
    ...recorded,
    commit: async (changes) => {
      if (isDrawn(0.03)) throw new Error('nothing is written')
      const outcome = await recorded.commit(changes)
      await look().catch(fail)
      if (isDrawn(0.03)) throw new Error('the answer is lost')
      return outcome
    },
  }
  const find = async (url: string) => {
    const asset = { assetCode: 'USD', assetScale: 2 }
    if (url === ALICE) return { account: 'alice', ...asset }
    return url === CLIENT ? { account: 'bob', ...asset, keys: published.map(({ jwk }) => jwk) } : undefined
  }
  const start = (ahead: number): OpenPayments =>
    createOpenPayments({
      authServer: AUTH,
      resourceServer: BASE,
      secrets: [SECRET],
      storage: interleavedStorage(storage, seed + ahead),
      ledger: testLedger(),
      walletAddresses: { find },
      consent: NO_PAGE,
      keyResolver: NO_NETWORK,
      cryptography,
      clock: { now: () => clock.now() + ahead, sleep: (milliseconds, signal) => clock.sleep(milliseconds, signal) },
      onEvent: () => undefined,
    })
  const processes = [start(0), start(20_000), start(-20_000)] as const
  const accepted = new Map<string, SigningKey>()
  const send = async (method: string, url: string, { key = own, ...members }: Partial<SignedRequestOptions> = {}) => {
    const created = Math.floor(clock.now() / 1000)
    const request = await signedRequest({ method, url, key, cryptography, created, ...members })
    const response = await oneOf(...processes).handle(request)
    const text = bodyText(response)
    const body: AnswerBody = text ? JSON.parse(text) : undefined
    meet(`${method} ${url.replace(/\/[0-9a-f]{32,}$/, '')} ${response.status}`)
    expect(response.status).not.toBe(500)
    if (response.status < 300) {
      expect(accepted.get(key.keyId) ?? key).toBe(key)
      accepted.set(key.keyId, key)
    }
    return { status: response.status, body }
  }

  const interact = { start: ['redirect'], ...(isDrawn(0.5) && { finish: FINISH }) }
  const json = { access_token: { access: ALL }, client: CLIENT, interact }
  let asked = await send('POST', `${AUTH}/`, { json })
  while (asked.status !== 200) asked = await send('POST', `${AUTH}/`, { json })
  const reference = lastSegment(asked.body.interact.redirect)
  const { uri, access_token } = asked.body.continue
  grantId = lastSegment(uri)
  const tokens: AnswerBody['access_token'][] = []
  const references = [undefined, 'wrong'] as (string | undefined)[]
  const shown = new Map<string, string>()
  let isOver = false
  /** Sends what must not succeed once the client was told that the grant is over. */
  const sendUnlessOver = async (...request: Parameters<typeof send>) => {
    const wasOver = isOver
    const answer = await send(...request)
    if (wasOver) expect(answer.status).not.toBe(200)
    return answer
  }
  const keep = ({ status, body }: Awaited<ReturnType<typeof send>>): void => {
    if (status === 200 && body.access_token !== undefined) tokens.push(body.access_token)
  }
  const withToken = async (act: (token: AnswerBody['access_token']) => Promise<unknown>): Promise<void> => {
    const [first, ...others] = tokens
    if (first !== undefined) await act(oneOf(first, ...others))
  }
  const acts = {
    open: async () => {
      const session = oneOf('one', 'one', 'two')
      const opened = await oneOf(...processes)
        .interactions.find(reference, { session, walletAddresses: [ALICE] })
        .catch(() => undefined)
      if (opened?.ok) shown.set(session, opened.csrf)
    },
    decide: async () => {
      const [session, decision] = [
        oneOf('one', 'one', 'one', 'two'),
        oneOf<'approve' | 'deny'>('approve', 'approve', 'approve', 'deny'),
      ]
      const csrf = shown.get(oneOf(session, 'one')) ?? ''
      const decided = await oneOf(...processes)
        .interactions[decision](reference, {
          session,
          walletAddresses: [ALICE],
          csrf,
          access: oneOf<'all' | readonly Access[]>('all', PART),
        })
        .catch(() => undefined)
      meet(`${decision} ${decided?.ok ? 'ok' : decided?.reason}`)
      if (decided?.ok && decided.redirect !== undefined)
        references.push(new URL(decided.redirect).searchParams.get('interact_ref') ?? undefined)
    },
    resume: async () => {
      const interactRef = oneOf(...(references as [string | undefined]))
      const json = interactRef === undefined ? {} : { json: { interact_ref: interactRef } }
      const key = oneOf(own, own, second, foreign)
      keep(await sendUnlessOver('POST', uri, { token: access_token.value, key, ...json }))
    },
    rotate: () =>
      withToken(async ({ manage, value }) =>
        keep(await sendUnlessOver('POST', manage, { token: value, key: oneOf(own, own, second, foreign) })),
      ),
    use: () =>
      withToken(({ value }) =>
        sendUnlessOver('GET', `${BASE}/outgoing-payment-grant`, { token: value, key: oneOf(own, second, foreign) }),
      ),
    cancel: async () => {
      if ((await send('DELETE', uri, { token: access_token.value, key: oneOf(own, second) })).status === 204)
        isOver = true
    },
    revoke: () => withToken(({ manage, value }) => send('DELETE', manage, { token: value, key: oneOf(own, second) })),
    takeBack: async () =>
      void (await oneOf(...processes)
        .grants.revoke(ALICE, lastSegment(uri))
        .catch(() => false)),
    publish: async () => {
      published = oneOf([own, second], [own, foreign], [own], [second], [foreign])
    },
    wait: async () => clock.advance(oneOf(100, 5000, 5000, 20_000, tokens.length > 0 ? 61_000 : 5000)),
    sweep: async () =>
      void (await oneOf(...processes)
        .sweep()
        .catch(() => 0)),
  }
  const { open, decide, resume, rotate, use, cancel, revoke, takeBack, publish, wait, sweep } = acts
  const before = [open, decide, decide, resume, resume, resume, wait, wait, publish, sweep] as const
  const after = [rotate, rotate, rotate, use, use, resume, publish, publish, wait, sweep] as const
  const atEnd = [cancel, revoke, revoke, takeBack] as const
  let running: Promise<unknown>[] = []
  for (let step = 0; step < STEPS && failures.length === 0; step++) {
    const isEnding = isDrawn(tokens.length > 0 ? 0.04 : 0.01)
    const act = isEnding ? oneOf(...atEnd) : tokens.length > 0 ? oneOf(...after) : oneOf(...before)
    running.push(act().catch(fail))
    if (!isDrawn(0.35)) continue
    await Promise.all(running)
    running = []
  }
  await Promise.all(running)
  if (failures.length > 0) throw new Error(`seed ${seed}`, { cause: failures[0] })
  return met
}

describe('a grant that everybody acts on at once', () => {
  it('T-29 KEY-10 has one decision, one token and no key but its own, whatever is lost', {
    timeout: PROPERTY_MILLISECONDS,
  }, async () => {
    const met = new Map<string, number>()
    for (let seed = FIRST; seed < FIRST + RUNS; seed++)
      for (const [what, count] of await play(seed)) met.set(what, (met.get(what) ?? 0) + count)
    const common = ['approve ok', `POST ${AUTH}/continue 200`, `POST ${AUTH}/token 200`]
    expect(common.filter((what) => !met.has(what))).toEqual([])
  })
})
