import type { Storage } from 'open-payments-server'
import { memoryStorage } from 'open-payments-server/storage/memory'
import { describe, expect, it } from 'vitest'
import { interleavedStorage } from '../support/interleaved-storage.ts'
import { lastSegment } from '../support/last-segment.ts'
import { ALICE, type Answer, decideAs, OWNER, referenceOf } from '../support/test-wallet.ts'
import {
  type AuthWallet,
  approvedGrant,
  authWallet,
  CONSENT_REQUEST,
  cancel,
  PLAIN_REQUEST,
  resume,
  revoke,
  rotate,
  tokenStatus,
  unchecked,
} from './auth-wallet.ts'

const SEEDS = [1, 2, 3, 4]

async function interleaved(seed: number): Promise<AuthWallet> {
  return unchecked(await authWallet({ storage: interleavedStorage(memoryStorage(), seed) }))
}

function atOnce(count: number, act: () => Promise<Answer>): Promise<readonly Answer[]> {
  return Promise.all(Array.from({ length: count }, act))
}

const valuesOf = (answers: readonly Answer[]): Set<string> =>
  new Set(answers.map(({ body }) => body.access_token.value))

const tokensOf = async (wallet: AuthWallet, state: string): Promise<number> =>
  (await wallet.records()).filter(
    (record) => record.kind === 'access-token' && 'state' in record.value && record.value.state === state,
  ).length

describe('at the same time', () => {
  it.each(SEEDS)('CON-4 twenty continuations give one token (order %i)', async (seed) => {
    const wallet = await interleaved(seed)
    const { pending, interactRef } = await approvedGrant(wallet)
    const answers = await atOnce(20, () => resume(wallet, pending, { interact_ref: interactRef }))
    expect(new Set(answers.map(({ status }) => status))).toEqual(new Set([200]))
    expect(valuesOf(answers).size).toBe(1)
    expect((await wallet.records()).filter(({ kind }) => kind === 'access-token')).toHaveLength(1)
  })

  it.each(SEEDS)('TOK-7 twenty rotations give one token (order %i)', async (seed) => {
    const wallet = await interleaved(seed)
    const grant = await wallet.ask(PLAIN_REQUEST)
    const answers = await atOnce(20, () => rotate(wallet, grant))
    expect(new Set(answers.map(({ status }) => status))).toEqual(new Set([200]))
    expect(valuesOf(answers).size).toBe(1)
    expect(await tokensOf(wallet, 'active')).toBe(1)
    expect(await tokensOf(wallet, 'rotated')).toBe(1)
  })

  it.each(SEEDS)('TOK-7 CON-8 no token outlives a rotation and a cancellation (order %i)', async (seed) => {
    const wallet = await interleaved(seed)
    const grant = await wallet.ask(PLAIN_REQUEST)
    const [rotations, cancelled] = await Promise.all([atOnce(5, () => rotate(wallet, grant)), cancel(wallet, grant)])
    expect(cancelled.status).toBe(204)
    expect(await tokensOf(wallet, 'active')).toBe(0)
    for (const { status, body } of rotations) {
      expect([200, 404]).toContain(status)
      if (status === 200) expect(await tokenStatus(wallet, body.access_token.value)).toBe(401)
    }
  })

  it.each(SEEDS)('TOK-9 no token outlives a rotation and a revocation (order %i)', async (seed) => {
    const wallet = await interleaved(seed)
    const grant = await wallet.ask(PLAIN_REQUEST)
    const [rotated, revoked] = await Promise.all([rotate(wallet, grant), revoke(wallet, grant)])
    expect(revoked.status).toBe(204)
    expect(await tokenStatus(wallet, grant.body.access_token.value)).toBe(401)
    expect(await tokensOf(wallet, 'active')).toBe(0)
    expect([200, 404]).toContain(rotated.status)
  })

  it.each(SEEDS)('CON-8 no token outlives a continuation and a cancellation (order %i)', async (seed) => {
    const wallet = await interleaved(seed)
    const { pending, interactRef } = await approvedGrant(wallet)
    const [continued, cancelled] = await Promise.all([
      resume(wallet, pending, { interact_ref: interactRef }),
      cancel(wallet, pending),
    ])
    expect(cancelled.status).toBe(204)
    expect([200, 404]).toContain(continued.status)
    expect(await tokensOf(wallet, 'active')).toBe(0)
  })

  it.each(SEEDS)('INT-3 of an approval and a denial one counts (order %i)', async (seed) => {
    const wallet = await interleaved(seed)
    const pending = await wallet.ask({ ...CONSENT_REQUEST, interact: { start: ['redirect'] } })
    const reference = referenceOf(pending)
    const { interactions } = wallet.openPayments
    const opened = await interactions.find(reference, OWNER)
    if (!opened.ok) throw new Error(opened.reason)
    const decider = { ...OWNER, csrf: opened.csrf, access: 'all' } as const
    const [approved, denied, again] = await Promise.all([
      interactions.approve(reference, decider),
      interactions.deny(reference, decider),
      interactions.approve(reference, decider),
    ])
    const decisions = [approved, denied, again]
    expect(decisions.filter(({ ok }) => ok)).toHaveLength(1)
    expect(decisions.filter((one) => !one.ok && one.reason === 'used')).toHaveLength(2)
    wallet.clock.advance(5_000)
    expect((await resume(wallet, pending)).status).toBe(denied.ok ? 401 : 200)
  })

  it.each(SEEDS)('INT-4 of an approval and a cancellation the cancellation stays (order %i)', async (seed) => {
    const wallet = await interleaved(seed)
    const pending = await wallet.ask(CONSENT_REQUEST)
    const [decided, cancelled] = await Promise.allSettled([decideAs(wallet, pending), cancel(wallet, pending)])
    expect(cancelled.status).toBe('fulfilled')
    wallet.clock.advance(5_000)
    const reference = decided.status === 'fulfilled' ? decided.value?.searchParams.get('interact_ref') : 'none'
    const answer = await resume(wallet, pending, { interact_ref: reference })
    expect([answer.status, answer.body.error.code]).toEqual([404, 'invalid_continuation'])
  })

  it.each(SEEDS)('INT-10 of two sessions that open an interaction one does (order %i)', async (seed) => {
    const wallet = await interleaved(seed)
    const reference = referenceOf(await wallet.ask(CONSENT_REQUEST))
    const sessions = ['a', 'b', 'c', 'd']
    const { interactions } = wallet.openPayments
    const opened = await Promise.all(sessions.map((session) => interactions.find(reference, { ...OWNER, session })))
    expect(opened.filter(({ ok }) => ok)).toHaveLength(1)
    expect(opened.filter((one) => !one.ok && one.reason === 'other_session')).toHaveLength(3)
  })

  it.each(SEEDS)('CON-9 a sweep and a continuation at the end of a grant agree (order %i)', async (seed) => {
    const wallet = await interleaved(seed)
    const { pending, interactRef } = await approvedGrant(wallet)
    wallet.clock.advance(594_990)
    const [continued] = await Promise.all([
      resume(wallet, pending, { interact_ref: interactRef }),
      (async () => {
        wallet.clock.advance(10)
        await wallet.openPayments.sweep()
      })(),
    ])
    expect([200, 404]).toContain(continued.status)
    expect(await tokensOf(wallet, 'active')).toBe(continued.status === 200 ? 1 : 0)
  })
})

describe('in one commit', () => {
  /** What the commits of some work wrote, as `action kind`. */
  async function commitsOf(
    prepare: (wallet: AuthWallet) => Promise<() => Promise<Answer>>,
  ): Promise<readonly string[][]> {
    const inner = memoryStorage()
    const commits: string[][] = []
    const storage: Storage = {
      ...inner,
      commit: async (changes) => {
        commits.push(changes.map(({ action, kind }) => `${action} ${kind}`).sort())
        return inner.commit(changes)
      },
    }
    const act = await prepare(await authWallet({ storage }))
    commits.length = 0
    expect((await act()).status).toBeLessThan(300)
    return commits
  }

  it('CON-4 the token is stored and the grant taken from approved to issued', async () => {
    const commits = await commitsOf(async (wallet) => {
      const { pending, interactRef } = await approvedGrant(wallet)
      return () => resume(wallet, pending, { interact_ref: interactRef })
    })
    expect(commits).toEqual([['insert access-token', 'replace grant']])
  })

  it('CON-8 the grant is ended and its token revoked', async () => {
    const commits = await commitsOf(async (wallet) => {
      const grant = await wallet.ask(PLAIN_REQUEST)
      return () => cancel(wallet, grant)
    })
    expect(commits).toEqual([['replace access-token', 'replace grant']])
  })

  it('TOK-6 the new token is stored, the old one ended and the grant kept from being cancelled meanwhile', async () => {
    const commits = await commitsOf(async (wallet) => {
      const grant = await wallet.ask(PLAIN_REQUEST)
      return () => rotate(wallet, grant)
    })
    expect(commits).toEqual([['insert access-token', 'replace access-token', 'replace grant']])
  })

  it('TOK-9 the token is revoked and its grant ended', async () => {
    const commits = await commitsOf(async (wallet) => {
      const grant = await wallet.ask(PLAIN_REQUEST)
      return () => revoke(wallet, grant)
    })
    expect(commits).toEqual([['replace access-token', 'replace grant']])
  })

  it('CON-8 the grant is ended by its owner and its token revoked', async () => {
    const commits = await commitsOf(async (wallet) => {
      const { pending, interactRef } = await approvedGrant(wallet)
      const issued = await resume(wallet, pending, { interact_ref: interactRef })
      return async () => {
        expect(await wallet.openPayments.grants.revoke(ALICE, lastSegment(pending.body.continue.uri))).toBe(true)
        return issued
      }
    })
    expect(commits).toEqual([['replace access-token', 'replace grant']])
  })

  it('INT-1 a grant that waits and its interaction begin', async () => {
    const commits = await commitsOf(async (wallet) => () => wallet.ask(CONSENT_REQUEST, { nonce: 'n' }))
    expect(commits).toEqual([['insert grant', 'insert interaction', 'insert replay-claim']])
  })

  it.each(['approve', 'deny'] as const)('INT-3 a grant and its interaction are decided: %s', async (decision) => {
    const commits = await commitsOf(async (wallet) => {
      const pending = await wallet.ask(CONSENT_REQUEST)
      return async () => {
        await decideAs(wallet, pending, decision)
        return pending
      }
    })
    // The first one binds the interaction to the session that opens it.
    expect(commits).toEqual([['replace interaction'], ['replace grant', 'replace interaction']])
  })

  it('SIG-26 the claim of a nonce is written with the effect', async () => {
    const commits = await commitsOf(async (wallet) => () => wallet.ask(PLAIN_REQUEST, { nonce: 'n' }))
    expect(commits).toEqual([['insert access-token', 'insert grant', 'insert replay-claim']])
  })
})

describe('a store whose answer gets lost', () => {
  /** A store that commits, and then says nothing of it, while it is told to. */
  function silentStorage(inner: Storage): {
    readonly storage: Storage
    silence(kind: 'done' | 'not done' | undefined): void
  } {
    let silence: 'done' | 'not done' | undefined
    const storage: Storage = {
      ...inner,
      async commit(changes) {
        if (silence === undefined) return inner.commit(changes)
        if (silence === 'done') await inner.commit(changes)
        throw new Error('connection lost')
      },
    }
    return {
      storage,
      silence: (kind) => {
        silence = kind
      },
    }
  }

  const acts: readonly (readonly [string, (wallet: AuthWallet) => Promise<() => Promise<Answer>>])[] = [
    ['a grant', async (wallet) => () => wallet.ask(PLAIN_REQUEST)],
    ['a grant with consent', async (wallet) => () => wallet.ask(CONSENT_REQUEST)],
    [
      'a continuation',
      async (wallet) => {
        const { pending, interactRef } = await approvedGrant(wallet)
        return () => resume(wallet, pending, { interact_ref: interactRef })
      },
    ],
    [
      'a rotation',
      async (wallet) => {
        const grant = await wallet.ask(PLAIN_REQUEST)
        return () => rotate(wallet, grant)
      },
    ],
    [
      'a revocation',
      async (wallet) => {
        const grant = await wallet.ask(PLAIN_REQUEST)
        return () => revoke(wallet, grant)
      },
    ],
    [
      'a cancellation',
      async (wallet) => {
        const grant = await wallet.ask(PLAIN_REQUEST)
        return () => cancel(wallet, grant)
      },
    ],
  ]

  it.each(acts)('T-31 %s that was committed succeeds', async (_name, prepare) => {
    const { storage, silence } = silentStorage(memoryStorage())
    const wallet = await authWallet({ storage })
    const act = await prepare(wallet)
    silence('done')
    expect((await act()).status).toBeLessThan(300)
  })

  it.each(acts)('T-31 %s that was not is 503, never a refusal, and can be asked for again', async (_name, prepare) => {
    const { storage, silence } = silentStorage(memoryStorage())
    const wallet = await authWallet({ storage })
    const act = await prepare(wallet)
    silence('not done')
    const unknown = await wallet.expectRefusal(503, 'request_denied', act)
    expect(unknown.headers['retry-after']).toBe('1')
    silence(undefined)
    expect((await act()).status).toBeLessThan(300)
  })
})
