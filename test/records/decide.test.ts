import { type Change, isConfigurationError, type RecordTypes, type Storage } from 'open-payments-server'
import { memoryStorage } from 'open-payments-server/storage/memory'
import { describe, expect, it } from 'vitest'
import type { OpenPaymentsError } from '../../src/errors/open-payments-error.ts'
import type { Context } from '../../src/ports/context.ts'
import { backOffMilliseconds, decide } from '../../src/records/decide.ts'
import { readRecord } from '../../src/records/read-record.ts'
import { type FakeClock, fakeClock } from '../support/fake-clock.ts'
import { notedPauses } from '../support/noted-pauses.ts'
import { cryptography } from '../support/test-wallet.ts'

const USD = { assetCode: 'USD', assetScale: 2 } as const

function quote(id: string, members: Partial<RecordTypes['quote']> = {}): RecordTypes['quote'] {
  const amount = { ...USD, value: 5n }
  return {
    id,
    walletAddress: 'https://wallet.example/alice',
    account: 'alice',
    client: 'https://wallet.example/client' as RecordTypes['quote']['client'],
    state: 'open',
    createdAt: 1,
    expiresAt: 2,
    receiver: 'https://wallet.example/incoming-payments/1',
    debitAmount: amount,
    receiveAmount: amount,
    fee: { ...USD, value: 0n },
    ...members,
  }
}

function receipt(id: string, incomingPaymentId = 'in'): RecordTypes['receipt'] {
  return { id, incomingPaymentId, state: 'credited', amount: { ...USD, value: 5n }, createdAt: 1 }
}

const claim: Change = { action: 'insert', kind: 'replay-claim', value: { id: 'claim', expiresAt: 9 }, dueAt: 9 }

interface Bench {
  readonly context: Context
  readonly storage: Storage
  readonly clock: FakeClock
  readonly faults: unknown[]
}

/** The part of a context that deciding needs, over a storage that can be made to fail. */
function bench(fail: Partial<Storage> | ((base: Storage) => Partial<Storage>) = {}): Bench {
  const storage = memoryStorage()
  const clock = fakeClock()
  const faults: unknown[] = []
  const failing = typeof fail === 'function' ? fail(storage) : fail
  const context = {
    storage: { ...storage, ...failing },
    clock,
    cryptography,
    limits: { commitSeconds: 3 },
    emit: (event: unknown) => faults.push(event),
  } as unknown as Context
  return { context, storage, clock, faults }
}

async function refusalOf(work: Promise<unknown>): Promise<OpenPaymentsError['condition']> {
  const error = await work.then(
    () => undefined,
    (cause: unknown) => cause,
  )
  if (error === undefined) throw new Error('nothing was refused')
  expect(isConfigurationError(error)).toBe(false)
  return (error as OpenPaymentsError).condition
}

const insertQuote = (id: string) => async () => ({
  changes: [{ action: 'insert', kind: 'quote', value: quote(id) }] as const,
  answer: id,
})

/** Commits, and then loses the reply. */
const loseReplies = (base: Storage): Partial<Storage> => ({
  commit: async (changes) => {
    await base.commit(changes)
    throw new Error('the reply was lost')
  },
})

describe('decide', () => {
  it('commits what an attempt decides and answers what it answers', async () => {
    const { context, storage } = bench()
    expect(await decide(context, insertQuote('1'))).toBe('1')
    expect(await readRecord(storage, 'quote', '1')).toMatchObject({ version: 1 })
  })

  it('does not commit where there is nothing to change', async () => {
    const { context } = bench({ commit: async () => Promise.reject(new Error('asked')) })
    expect(await decide(context, async () => ({ answer: 7 }))).toBe(7)
  })

  it.each([undefined, null, true, { conflicts: 0 }])(
    'asks the store whether a commit happened that was answered %j, which is no answer',
    async (answer) => {
      const silent = (isDone: boolean) => (base: Storage) => ({
        commit: async (changes: readonly Change[]) => {
          if (isDone) await base.commit(changes)
          return answer as never
        },
      })
      expect(await decide(bench(silent(true)).context, insertQuote('1'))).toBe('1')
      expect(await refusalOf(decide(bench(silent(false)).context, insertQuote('1')))).toMatchObject({ status: 503 })
    },
  )

  it('reads and decides again after a conflict', async () => {
    const { context, storage } = bench()
    await storage.commit([{ action: 'insert', kind: 'quote', value: quote('1') }])
    let attempts = 0
    const version = await decide(context, async () => {
      const record = await readRecord(storage, 'quote', '1')
      if (record === undefined) throw new Error('vanished')
      // Another writer, between the read and the commit of the first two attempts.
      if (attempts++ < 2) await storage.commit([{ ...record, action: 'replace' }])
      return { changes: [{ ...record, action: 'replace' }], answer: record.version + 1 }
    })
    expect([attempts, version]).toEqual([3, 4])
  })

  it('reads again only when the pause after a conflict is over', async () => {
    const order: string[] = []
    let conflicts = 2
    const { context } = bench((base) => ({
      commit: async (changes) => (conflicts-- > 0 ? { conflicts: [0] } : base.commit(changes)),
    }))
    await decide({ ...context, clock: notedPauses(context.clock, order) }, async () => {
      order.push('read')
      return insertQuote('1')()
    })
    expect(order).toEqual(['read', 'pause', 'over', 'read', 'pause', 'over', 'read'])
  })

  it('is unavailable, with Retry-After, once it met conflicts until its deadline', async () => {
    const { context, clock } = bench({ commit: async () => ({ conflicts: [0] }) })
    const begun = clock.now()
    const condition = await refusalOf(decide(context, insertQuote('1')))
    expect(condition).toMatchObject({ status: 503, code: 'unavailable', headers: { 'retry-after': '1' } })
    expect(clock.now() - begun).toBeGreaterThanOrEqual(3000)
    expect(clock.now() - begun).toBeLessThan(3500)
  })

  it('gives up the refusal of an attempt at once', async () => {
    const { context } = bench()
    const refusal = new Error('no')
    await expect(decide(context, async () => Promise.reject(refusal))).rejects.toBe(refusal)
  })

  it('SIG-26 commits the claims with the effect, and with nothing where there is none', async () => {
    const { context, storage } = bench()
    await decide(context, insertQuote('1'), { claims: [claim] })
    expect(await readRecord(storage, 'replay-claim', 'claim')).toBeDefined()
    const other: Change = { ...claim, kind: 'replay-claim', value: { id: 'other', expiresAt: 9 } } as Change
    await decide(context, async () => ({ answer: undefined }), { claims: [other] })
    expect(await readRecord(storage, 'replay-claim', 'other')).toBeDefined()
  })

  it('SIG-24 refuses a claim that is there already at once, whatever else conflicts with it', async () => {
    const { context, storage } = bench()
    await decide(context, insertQuote('1'), { claims: [claim] })
    let attempts = 0
    const again = decide(
      context,
      async () => {
        attempts++
        return insertQuote('1')()
      },
      { claims: [claim] },
    )
    expect(await refusalOf(again)).toMatchObject({ status: 401 })
    expect(attempts).toBe(1)
    expect(await readRecord(storage, 'quote', '1')).toMatchObject({ version: 1 })
  })

  it('SIG-24 refuses a claim that is there already, and leaves no effect', async () => {
    const { context, storage } = bench()
    await decide(context, insertQuote('1'), { claims: [claim] })
    expect(await refusalOf(decide(context, insertQuote('2'), { claims: [claim] }))).toMatchObject({ status: 401 })
    expect(await readRecord(storage, 'quote', '2')).toBeUndefined()
  })
})

describe('decide after a commit that was not answered', () => {
  it('finds an insert under its fresh id', async () => {
    const { context, faults } = bench(loseReplies)
    expect(await decide(context, insertQuote('1'), { claims: [claim] })).toBe('1')
    expect(faults).toMatchObject([{ type: 'fault', message: 'a commit was not answered' }])
  })

  it.each(['grant', 'access-token', 'incoming-payment', 'quote', 'outgoing-payment'] as const)(
    'finds a new record of kind %s by its id alone: another worker may have changed it since',
    async (kind) => {
      // Nothing but its id is looked at.
      const change = (members: object) => ({ kind, ...members }) as unknown as Change
      const made = change({ action: 'insert', value: { id: 'new', state: 'made' } })
      const moved = change({ action: 'replace', version: 1, value: { id: 'new', state: 'moved' } })
      const { context } = bench((base) => ({
        commit: async (changes) => {
          for (const each of [changes, [moved]]) await base.commit(each)
          throw new Error('the reply was lost')
        },
      }))
      const attempt = async () => ({ changes: [made, claim], answer: 'made' })
      expect(await decide(context, attempt)).toBe('made')
    },
  )

  it('is unavailable where the insert is not there', async () => {
    const { context } = bench({ commit: async () => Promise.reject(new Error('down')) })
    expect(await refusalOf(decide(context, insertQuote('1')))).toMatchObject({ status: 503 })
  })

  it('is unavailable where the store cannot be asked either', async () => {
    const down = async () => Promise.reject(new Error('down'))
    const { context } = bench({ commit: down, get: down })
    expect(await refusalOf(decide(context, insertQuote('1')))).toMatchObject({ status: 503 })
  })

  it('never commits a second time', async () => {
    let commits = 0
    const { context } = bench({
      commit: async () => {
        commits++
        throw new Error('down')
      },
    })
    expect(await refusalOf(decide(context, insertQuote('1')))).toMatchObject({ status: 503 })
    expect(commits).toBe(1)
  })

  it('finds a replacement by its version and value', async () => {
    const { context, storage } = bench(loseReplies)
    await storage.commit([{ action: 'insert', kind: 'quote', value: quote('1') }])
    const changes: readonly Change[] = [
      { action: 'replace', kind: 'quote', version: 1, value: quote('1', { state: 'used' }) },
    ]
    expect(await decide(context, async () => ({ changes, answer: 'done' }))).toBe('done')
  })

  it('finds a replacement though what was inserted with it is gone, as an event that its host has acknowledged', async () => {
    const { context, storage } = bench((base) => ({
      commit: async (changes) => {
        await base.commit(changes)
        await base.commit([{ action: 'delete', kind: 'replay-claim', id: 'claim', version: 1 }])
        throw new Error('the connection broke after the commit')
      },
    }))
    await storage.commit([{ action: 'insert', kind: 'quote', value: quote('1') }])
    const used: Change = { action: 'replace', kind: 'quote', version: 1, value: quote('1', { state: 'used' }) }
    expect(await decide(context, async () => ({ changes: [used, claim], answer: 'done' }))).toBe('done')
  })

  it('is unavailable where another writer replaced the record', async () => {
    const { context, storage } = bench((base) => ({
      commit: async () => {
        await base.commit([
          {
            action: 'replace',
            kind: 'quote',
            version: 1,
            value: quote('1', { state: 'used', outgoingPaymentId: 'another' }),
          },
        ])
        throw new Error('the connection broke before the commit')
      },
    }))
    await storage.commit([{ action: 'insert', kind: 'quote', value: quote('1') }])
    const changes: readonly Change[] = [
      { action: 'replace', kind: 'quote', version: 1, value: quote('1', { state: 'used' }) },
    ]
    expect(await refusalOf(decide(context, async () => ({ changes, answer: 'done' })))).toMatchObject({ status: 503 })
  })

  it('SIG-23 finds claims alone, each at its own version', async () => {
    const { context } = bench(loseReplies)
    const claims = [{ ...claim, version: 7 } as Change]
    expect(await decide(context, async () => ({ answer: 'done' }), { claims })).toBe('done')
  })

  it('SIG-24 does not take the claim of the identical request for its own', async () => {
    const { context } = bench((base) => ({
      commit: async () => {
        await base.commit([{ ...claim, version: 7 } as Change])
        throw new Error('the connection broke before the commit')
      },
    }))
    const attempt = async () => ({ answer: 'done' })
    expect(await refusalOf(decide(context, attempt, { claims: [claim] }))).toMatchObject({ status: 503 })
  })

  it('is unavailable where another writer has replaced just one of the records so', async () => {
    const used = (id: string): Change => ({
      action: 'replace',
      kind: 'quote',
      version: 1,
      value: quote(id, { state: 'used' }),
    })
    const { context, storage } = bench((base) => ({
      commit: async () => {
        await base.commit([used('1')])
        throw new Error('the connection broke before the commit')
      },
    }))
    for (const id of ['1', '2']) await storage.commit([{ action: 'insert', kind: 'quote', value: quote(id) }])
    const changes = [used('1'), used('2')]
    expect(await refusalOf(decide(context, async () => ({ changes, answer: 'done' })))).toMatchObject({ status: 503 })
  })

  it('INC-5 does not take the equal replacement of another receipt for its own', async () => {
    // Two transfers of one amount move the incoming payment to the same value; only the receipts tell them apart.
    const moved: Change = { action: 'replace', kind: 'quote', version: 1, value: quote('1', { state: 'used' }) }
    const insert = (id: string): Change => ({ action: 'insert', kind: 'receipt', value: receipt(id) })
    const { context, storage } = bench((base) => ({
      commit: async () => {
        await base.commit([moved, insert('theirs')])
        throw new Error('the connection broke before the commit')
      },
    }))
    await storage.commit([{ action: 'insert', kind: 'quote', value: quote('1') }])
    const attempt = async () => ({ changes: [moved, insert('ours')], answer: 'counted' })
    expect(await refusalOf(decide(context, attempt))).toMatchObject({ status: 503 })
  })

  it.each(['payment', 'receipt'] as const)(
    'OUT-6 does not take its %s alone, as another left it, for both',
    async (one) => {
      const payment = { id: 'out', state: 'decided' } as unknown as RecordTypes['outgoing-payment']
      const changes = {
        payment: { action: 'replace', kind: 'outgoing-payment', version: 1, value: payment },
        receipt: { action: 'replace', kind: 'receipt', version: 1, value: receipt('credit') },
      } as const
      const { context, storage } = bench((base) => ({
        commit: async () => {
          await base.commit([changes[one]])
          throw new Error('the connection broke before the commit')
        },
      }))
      for (const { kind, value } of Object.values(changes))
        await storage.commit([{ action: 'insert', kind, value } as Change])
      const attempt = async () => ({ changes: Object.values(changes), answer: 'decided' })
      expect(await refusalOf(decide(context, attempt))).toMatchObject({ status: 503 })
    },
  )

  it('INC-5 does not take a receipt with other arguments for its own', async () => {
    const insert = (incomingPaymentId: string): Change => ({
      action: 'insert',
      kind: 'receipt',
      value: receipt('transfer', incomingPaymentId),
    })
    const { context } = bench((base) => ({
      commit: async () => {
        await base.commit([insert('theirs')])
        throw new Error('the connection broke before the commit')
      },
    }))
    const attempt = async () => ({ changes: [insert('ours')], answer: 'counted' })
    expect(await refusalOf(decide(context, attempt))).toMatchObject({ status: 503 })
  })

  it('INC-5 finds its own receipt', async () => {
    const { context } = bench(loseReplies)
    const changes: readonly Change[] = [{ action: 'insert', kind: 'receipt', value: receipt('transfer') }]
    expect(await decide(context, async () => ({ changes, answer: 'counted' }))).toBe('counted')
  })
})

describe('backOffMilliseconds', () => {
  it('doubles from 5 to 160 and is random in its upper half', () => {
    const pauses = (byte: number) =>
      [0, 1, 5, 9].map((round) =>
        backOffMilliseconds({ cryptography: { randomBytes: () => Uint8Array.of(byte) } } as unknown as Context, round),
      )
    expect(pauses(0)).toEqual([2.5, 5, 80, 80])
    expect(pauses(255)).toEqual([5, 10, 160, 160])
  })
})
