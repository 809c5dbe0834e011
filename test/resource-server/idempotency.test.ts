import { memoryStorage } from 'open-payments-server/storage/memory'
import { alterRequest, type InMemoryRequest } from 'open-payments-server/testing'
import { describe, expect, it } from 'vitest'
import type { AnswerBody } from '../support/answer-body.ts'
import { fakeClock } from '../support/fake-clock.ts'
import { gate } from '../support/gate.ts'
import { interleavedStorage } from '../support/interleaved-storage.ts'
import { keyed } from '../support/keyed.ts'
import { recordedStorage } from '../support/recorded-storage.ts'
import { ALICE, type Answer, addClient, BASE, BOB, type Sending, testWallet, usd } from '../support/test-wallet.ts'
import {
  expectRefusal,
  expectStatus,
  INSUFFICIENT_GRANT,
  INVALID_SIGNATURE,
  idOf,
  invalidRequest,
  RECEIVING_ACCESS,
  type Refusal,
  type Shop,
  shop,
  spendingAccess,
  spent,
  spentOf,
  tokenFor,
} from './observed-wallet.ts'

const CONFLICT: Refusal = [409, 'idempotency_conflict', 'this Idempotency-Key was used for another request']
const DAY = 24 * 3600 * 1000
const COVERED = ['@method', '@target-uri', 'authorization', 'content-digest', 'content-length', 'content-type']

/** One of the requests that create something. */
interface Creation {
  readonly name: string
  readonly path: string
  readonly token: (rig: Shop) => string
  readonly body: (rig: Shop) => Readonly<Record<string, unknown>>
}

const INCOMING: Creation = {
  name: 'incoming payment',
  path: '/incoming-payments',
  token: ({ receiving }) => receiving,
  body: () => ({
    walletAddress: BOB,
    incomingAmount: usd('7'),
    metadata: JSON.parse('{ "__proto__": { "order": 1 } }'),
  }),
}
const QUOTE: Creation = {
  name: 'quote',
  path: '/quotes',
  token: ({ spending }) => spending,
  body: ({ incoming }) => ({ walletAddress: ALICE, receiver: incoming.id, method: 'ilp', debitAmount: usd('7') }),
}
const OUTGOING: Creation = {
  name: 'outgoing payment',
  path: '/outgoing-payments',
  token: ({ spending }) => spending,
  body: ({ incoming }) => ({
    walletAddress: ALICE,
    incomingPayment: incoming.id,
    debitAmount: usd('7'),
    metadata: { text: '\u{1F600}', small: 1.5e-7 },
  }),
}
const CREATIONS = [INCOMING, QUOTE, OUTGOING]

function leastOrder({ incoming }: Shop): Readonly<Record<string, unknown>> {
  return { walletAddress: ALICE, incomingPayment: incoming.id, debitAmount: usd('7') }
}

function hasUndefined(value: unknown): boolean {
  if (typeof value !== 'object' || value === null) return value === undefined
  return Object.values(value).some(hasUndefined)
}

/** Creates under a key; the clock moves on, so that each request has a signature of its own. */
function create(rig: Shop, creation: Creation, key: string, sending: Sending = {}): Promise<Answer> {
  rig.wallet.clock.advance(1000)
  return rig.wallet.send('POST', `${BASE}${creation.path}`, {
    token: creation.token(rig),
    json: creation.body(rig),
    ...keyed(key),
    ...sending,
  })
}

/** Keeps the request that is sent, so that it can be sent again byte by byte. */
function catcher(): { readonly alter: (request: InMemoryRequest) => InMemoryRequest; request: () => InMemoryRequest } {
  const caught: InMemoryRequest[] = []
  return {
    alter: (request) => {
      caught.push(request)
      return request
    },
    request: () => caught[0] as InMemoryRequest,
  }
}

/** How often something was made, but for what the shop made before. */
function made({ wallet }: Shop, creation: Creation): number {
  const kind = creation.name.replace(' ', '-')
  const inserts = wallet.effects.filter((change) => change.action === 'insert' && change.kind === kind)
  return inserts.length - (creation === INCOMING ? 1 : 0)
}

describe('a repeat under an Idempotency-Key', () => {
  it.each(CREATIONS)('OUT-12 gets the original answer again and has no second effect: $name', async (creation) => {
    const rig = await shop()
    const first = await expectStatus(201, create(rig, creation, 'k'))
    await rig.wallet.openPayments.drain()
    for (let repeat = 0; repeat < 3; repeat++) {
      rig.wallet.clock.advance(100_000)
      const again = await expectStatus(201, create(rig, creation, 'k'))
      expect(again.text).toBe(first.text)
    }
    await rig.wallet.openPayments.drain()
    expect(made(rig, creation)).toBe(1)
    expect(await rig.wallet.ledger.balance('bob')).toMatchObject({ total: creation === OUTGOING ? 7n : 0n })
  })

  it.each([{ ...INCOMING, body: () => ({ walletAddress: BOB }) }, QUOTE, { ...OUTGOING, body: leastOrder }])(
    'OUT-12 has its answer kept without members that are undefined, which not every database takes: $name',
    async (creation) => {
      const storage = memoryStorage()
      const commit: typeof storage.commit = async (changes) => {
        if (changes.some(hasUndefined)) throw new Error('a member is undefined')
        return storage.commit(changes)
      }
      const rig = await shop({ overrides: { storage: { ...storage, commit } } })
      const first = await expectStatus(201, create(rig, creation, 'k'))
      expect((await expectStatus(201, create(rig, creation, 'k'))).text).toBe(first.text)
    },
  )

  it.each(CREATIONS)(
    'OUT-12 T-32 is answered too where it is byte for byte the first request: $name',
    async (creation) => {
      for (const replay of ['payments', 'all'] as const) {
        const rig = await shop({ overrides: { settings: { policies: { replay } } } })
        const { alter, request } = catcher()
        const first = await expectStatus(201, create(rig, creation, 'k', { alter }))
        const again = await expectStatus(201, rig.wallet.sendRaw(request()))
        expect(again.text).toBe(first.text)
        expect(made(rig, creation)).toBe(1)
      }
    },
  )

  it.each(
    CREATIONS.flatMap((creation) =>
      (['unknown', 'inactive', 'not to be asked'] as const).map((what) => ({ creation, what })),
    ),
  )('OUT-12 is answered where its wallet address is $what by now: $creation.name', async ({ creation, what }) => {
    const rig = await shop()
    const { directory } = rig.wallet
    const first = await expectStatus(201, create(rig, creation, 'k'))
    await rig.wallet.openPayments.drain()
    const address = String(creation.body(rig)['walletAddress'])
    const known = directory.get(address)
    if (what === 'inactive' && known) directory.set(address, { ...known, isActive: false })
    if (what === 'unknown') directory.delete(address)
    if (what === 'not to be asked') {
      const { get } = Map.prototype
      directory.get = (url) => {
        if (url === address) throw new Error('the directory is gone')
        return get.call(directory, url)
      }
    }
    const again = await expectStatus(201, create(rig, creation, 'k'))
    expect(again.text).toBe(first.text)
    const other = await create(rig, creation, 'another')
    expect(other.status).toBe({ unknown: 404, inactive: 400, 'not to be asked': 503 }[what])
    expect(made(rig, creation)).toBe(1)
  })

  it('OUT-12 RS-4 is refused under a token that has no right to its wallet address', async () => {
    const rig = await shop()
    await expectStatus(201, create(rig, OUTGOING, 'k'))
    const token = await tokenFor(rig.wallet, [{ type: 'outgoing-payment', actions: ['create'], identifier: BOB }])
    await expectRefusal(rig.wallet, INSUFFICIENT_GRANT, () => create(rig, OUTGOING, 'k', { token }))
  })

  it('OUT-12 T-32 tells what the grant had spent then, and finds the same payment after another one', async () => {
    const rig = await shop({ limits: { debitAmount: usd('14') } })
    const first = await expectStatus(201, create(rig, OUTGOING, 'k'))
    const other = await expectStatus(201, create(rig, OUTGOING, 'other'))
    expect(other.body).toMatchObject({ grantSpentDebitAmount: usd('14') })
    const again = await expectStatus(201, create(rig, OUTGOING, 'k'))
    expect(again.body).toEqual(first.body)
    expect(again.body).toMatchObject({ grantSpentDebitAmount: usd('7') })
    expect(await spentOf(rig.wallet, rig.spending)).toEqual(spent('14'))
  })

  it('OUT-12 gets a used quote paid once, and the answer again', async () => {
    const rig = await shop()
    const quote = await expectStatus(201, create(rig, QUOTE, 'q'))
    const json = { walletAddress: ALICE, quoteId: quote.body.id }
    const first = await expectStatus(201, create(rig, OUTGOING, 'k', { json }))
    const again = await expectStatus(201, create(rig, OUTGOING, 'k', { json }))
    expect(again.text).toBe(first.text)
  })

  it('OUT-12 is answered where the first request uses up its quote after it has looked for its key', async () => {
    const storage = memoryStorage()
    const asked = gate()
    const answered = gate()
    let isHeldUp = false
    const get: typeof storage.get = async (keys) => {
      const isFirst = isHeldUp && keys.some(({ kind }) => kind === 'quote')
      if (!isFirst) return storage.get(keys)
      isHeldUp = false
      asked.open()
      await answered.opened
      return storage.get(keys)
    }
    const rig = await shop({ overrides: { storage: { ...storage, get } } })
    const quote = await expectStatus(201, create(rig, QUOTE, 'q'))
    const json = { walletAddress: ALICE, quoteId: quote.body.id }
    isHeldUp = true
    const repeat = create(rig, OUTGOING, 'k', { json })
    await asked.opened
    const first = await expectStatus(201, create(rig, OUTGOING, 'k', { json }))
    answered.open()
    expect((await expectStatus(201, repeat)).text).toBe(first.text)
    expect(made(rig, OUTGOING)).toBe(1)
  })

  it('OUT-12 INC-4 stores no shared secret, and derives it again, also for a payment that is completed by then', async () => {
    const storage = recordedStorage()
    const rig = await shop({ overrides: { storage } })
    const first = await expectStatus(201, create(rig, INCOMING, 'k'))
    await rig.wallet.send('POST', `${first.body.id}/complete`, { token: rig.receiving })
    const again = await expectStatus(201, create(rig, INCOMING, 'k'))
    expect(again.body).toEqual(first.body)
    const secret = again.body.methods[0]?.sharedSecret ?? ''
    expect(secret).toMatch(/^[A-Za-z0-9_-]{43}$/)
    const stored = JSON.stringify(await storage.records(), (_, member) =>
      typeof member === 'bigint' ? `${member}` : member,
    )
    expect(stored).toContain(idOf(first.body))
    expect(stored).not.toContain(secret)
  })

  it('OUT-12 is one of the same client, whatever its token', async () => {
    const rig = await shop()
    const first = await expectStatus(201, create(rig, OUTGOING, 'k'))
    const other = await tokenFor(rig.wallet, spendingAccess())
    const again = await expectStatus(201, create(rig, OUTGOING, 'k', { token: other }))
    expect(again.text).toBe(first.text)
    expect(await spentOf(rig.wallet, other)).toEqual({ spentDebitAmount: null, spentReceiveAmount: null })
  })

  it('OUT-12 is authorised like the first request', async () => {
    const rig = await shop()
    await expectStatus(201, create(rig, OUTGOING, 'k'))
    const access = { type: 'outgoing-payment', actions: ['create'], identifier: BOB }
    const elsewhere = await tokenFor(rig.wallet, [access])
    const reading = await tokenFor(rig.wallet, [{ ...access, identifier: ALICE, actions: ['read'] }])
    for (const token of [elsewhere, reading])
      await expectRefusal(rig.wallet, INSUFFICIENT_GRANT, () => create(rig, OUTGOING, 'k', { token }))
  })

  it.each(CREATIONS)('OUT-12 of another body is 409, also where only its bytes are others: $name', async (creation) => {
    const rig = await shop()
    const first = await expectStatus(201, create(rig, creation, 'k'))
    const json = creation.body(rig)
    const changed = {
      ...json,
      [creation === QUOTE || creation === OUTGOING ? 'debitAmount' : 'incomingAmount']: usd('8'),
    }
    await expectRefusal(rig.wallet, CONFLICT, () => create(rig, creation, 'k', { json: changed }))
    const body = `${JSON.stringify(json)}\n`
    await expectRefusal(rig.wallet, CONFLICT, () => create(rig, creation, 'k', { json: undefined, body }))
    expect((await expectStatus(201, create(rig, creation, 'k'))).text).toBe(first.text)
  })

  it('OUT-12 is for one client and one operation: others use the same key for their own', async () => {
    const rig = await shop()
    const answers = new Set<string>()
    for (const creation of CREATIONS) answers.add((await expectStatus(201, create(rig, creation, 'k'))).body.id)
    const as = await addClient(rig.wallet, 'other')
    const token = await tokenFor(rig.wallet, spendingAccess(), as)
    answers.add((await expectStatus(201, create(rig, OUTGOING, 'k', { as, token }))).body.id)
    const incoming = await tokenFor(rig.wallet, RECEIVING_ACCESS, as)
    answers.add((await expectStatus(201, create(rig, INCOMING, 'k', { as, token: incoming }))).body.id)
    expect(answers.size).toBe(5)
  })

  it.each([['swept'], ['still there']])('OUT-12 is one for 24 hours, and its key free afterwards (%s)', async (end) => {
    const rig = await shop({ overrides: { settings: { lifetimes: { accessTokenSeconds: 1e6 } } } })
    const { openPayments, clock } = rig.wallet
    const ids: string[] = []
    for (const creation of CREATIONS) ids.push((await expectStatus(201, create(rig, creation, 'k'))).body.id)
    clock.advance(DAY - 3001)
    await openPayments.sweep()
    for (const [order, creation] of CREATIONS.entries()) {
      // `create` moves the clock on by a second each time, so each of them is one millisecond before its end.
      expect((await expectStatus(201, create(rig, creation, 'k'))).body.id).toBe(ids[order])
    }
    clock.advance(1001)
    if (end === 'swept') await openPayments.sweep()
    for (const [order, creation] of CREATIONS.entries()) {
      const again = await expectStatus(201, create(rig, creation, 'k'))
      expect(again.body.id).not.toBe(ids[order])
      expect((await expectStatus(201, create(rig, creation, 'k'))).text).toBe(again.text)
    }
  })

  it('OUT-12 is none any more in the very millisecond in which the 24 hours are over', async () => {
    const rig = await shop({ overrides: { settings: { lifetimes: { accessTokenSeconds: 1e6 } } } })
    const first = await expectStatus(201, create(rig, QUOTE, 'k'))
    rig.wallet.clock.advance(DAY - 2000)
    expect((await expectStatus(201, create(rig, QUOTE, 'k'))).text).toBe(first.text)
    expect((await expectStatus(201, create(rig, QUOTE, 'k'))).text).not.toBe(first.text)
  })

  it('OUT-12 is one of a quote, too, that was swept before its key', async () => {
    const storage = memoryStorage()
    const settings = { lifetimes: { accessTokenSeconds: 1e6 } }
    const rig = await shop({ overrides: { storage, settings } })
    // So many keys are due before that of the quote that one sweep, by a clock that runs ahead, leaves that one.
    for (let count = 0; count < 100; count++) await expectStatus(201, create(rig, INCOMING, `k-${count}`))
    const first = await expectStatus(201, create(rig, QUOTE, 'k'))
    const ahead = await testWallet({ storage, clock: fakeClock(rig.wallet.clock.now() + 3 * DAY) })
    await ahead.openPayments.sweep()
    expect(await storage.get([{ kind: 'quote', id: idOf(first.body) }])).toEqual([undefined])
    expect((await expectStatus(201, create(rig, QUOTE, 'k'))).text).toBe(first.text)
  })

  it('OUT-12 of a refused request is a new request: a refusal is not kept', async () => {
    const rig = await shop()
    const json = { ...OUTGOING.body(rig), debitAmount: usd('0') }
    expect((await create(rig, OUTGOING, 'k', { json })).status).toBe(400)
    await expectStatus(201, create(rig, OUTGOING, 'k'))
  })
})

describe('the signature of a repeat', () => {
  it('SIG-23 may not bring a nonce again, and is answered with another one', async () => {
    const rig = await shop()
    const { alter, request } = catcher()
    const first = await expectStatus(201, create(rig, OUTGOING, 'k', { nonce: 'one', alter }))
    await expectRefusal(rig.wallet, INVALID_SIGNATURE, () => rig.wallet.sendRaw(request()))
    await expectRefusal(rig.wallet, INVALID_SIGNATURE, () => create(rig, OUTGOING, 'k', { nonce: 'one' }))
    const second = catcher()
    const again = await expectStatus(201, create(rig, OUTGOING, 'k', { nonce: 'two', alter: second.alter }))
    expect(again.text).toBe(first.text)
    await expectRefusal(rig.wallet, INVALID_SIGNATURE, () => rig.wallet.sendRaw(second.request()))
  })

  it('SIG-23 may not bring a nonce again beside a signature with another one', async () => {
    const rig = await shop()
    const { alter, request } = catcher()
    const first = await expectStatus(201, create(rig, OUTGOING, 'k', { nonce: 'one', label: 'a', alter }))
    const lines = (name: string, both: readonly InMemoryRequest[]) => both.flatMap((one) => one.headerLines(name))
    const signedTwice = (order: (used: InMemoryRequest, fresh: InMemoryRequest) => readonly InMemoryRequest[]) =>
      create(rig, OUTGOING, 'k', {
        nonce: 'two',
        label: 'b',
        alter: (fresh) => {
          const both = order(request(), fresh)
          const headers = { 'signature-input': lines('signature-input', both), signature: lines('signature', both) }
          return alterRequest(fresh, { headers })
        },
      })
    await expectRefusal(rig.wallet, INVALID_SIGNATURE, () => signedTwice((used, fresh) => [used, fresh]))
    await expectRefusal(rig.wallet, INVALID_SIGNATURE, () => signedTwice((used, fresh) => [fresh, used]))
    expect((await expectStatus(201, create(rig, OUTGOING, 'k', { nonce: 'two' }))).text).toBe(first.text)
  })

  it.each(CREATIONS)('SIG-24 is no question to the storage where there is none to use up: $name', async (creation) => {
    const storage = memoryStorage()
    // As stores are whose batches must hold something.
    const get: typeof storage.get = async (keys) => {
      if (keys.length === 0) throw new Error('a read of no records')
      return storage.get(keys)
    }
    const rig = await shop({ overrides: { storage: { ...storage, get } } })
    const first = await expectStatus(201, create(rig, creation, 'k'))
    expect((await expectStatus(201, create(rig, creation, 'k'))).text).toBe(first.text)
  })

  it('SIG-24 is used up too, so that nobody else can send it once the key is free', async () => {
    const rig = await shop()
    const { alter, request } = catcher()
    const first = await expectStatus(201, create(rig, OUTGOING, 'k'))
    await expectStatus(201, create(rig, OUTGOING, 'k', { alter }))
    // Another process frees the key: what was made under it was undone.
    const key = rig.wallet.effects.find(({ kind }) => kind === 'idempotency-key')
    const id = key !== undefined && 'value' in key ? key.value.id : ''
    const [record] = await rig.wallet.storage.get([{ kind: 'idempotency-key', id }])
    await rig.wallet.storage.commit([{ action: 'delete', kind: 'idempotency-key', id, version: record?.version ?? 0 }])
    await expectRefusal(rig.wallet, INVALID_SIGNATURE, () => rig.wallet.sendRaw(request()))
    expect((await expectStatus(201, create(rig, OUTGOING, 'k'))).body.id).not.toBe(first.body.id)
  })

  it.each<[string, Sending]>([
    ['', {}],
    [' that brings a nonce', { nonce: 'one' }],
  ])('SIG-24 of another body%s is used up by its conflict: nobody sends it once the key is free', async (_, more) => {
    const rig = await shop()
    const { ledger } = rig.wallet
    const { hold } = ledger
    let refuse = (): void => undefined
    const isHeld = new Promise<void>((resolve) => {
      ledger.hold = () =>
        new Promise((answer) => {
          refuse = () => answer({ ok: false, reason: 'not_allowed' })
          resolve()
        })
    })
    const first = create(rig, OUTGOING, 'k')
    await isHeld
    const { alter, request } = catcher()
    const json = { ...OUTGOING.body(rig), debitAmount: usd('8') }
    const conflict = await create(rig, OUTGOING, 'k', { json, alter, ...more })
    expect([conflict.status, conflict.body.error.code]).toEqual([409, 'idempotency_conflict'])
    ledger.hold = hold
    refuse()
    expect((await first).body.error.code).toBe('not_allowed')
    await expectRefusal(rig.wallet, INVALID_SIGNATURE, () => rig.wallet.sendRaw(request()))
    await expectStatus(201, create(rig, OUTGOING, 'k', { json }))
  })
})

describe('the Idempotency-Key field', () => {
  const signs = (alter: (request: InMemoryRequest) => InMemoryRequest): Sending => ({ alter })

  it.each<[string, Sending]>([
    ['that is empty', keyed('')],
    ['with a space in it', keyed('a b')],
    ['with a tab in it', keyed('a\tb')],
    ['of 257 characters', keyed('x'.repeat(257))],
    [
      'on two lines',
      { ...keyed('a, b'), ...signs((one) => alterRequest(one, { headers: { 'idempotency-key': ['a', 'b'] } })) },
    ],
    [
      'on two equal lines',
      { ...keyed('a, a'), ...signs((one) => alterRequest(one, { headers: { 'idempotency-key': ['a', 'a'] } })) },
    ],
  ])('OUT-12 is refused %s', async (_, sending) => {
    const rig = await shop()
    for (const creation of CREATIONS)
      await expectRefusal(
        rig.wallet,
        invalidRequest('Idempotency-Key must be one line of 1 to 256 visible ASCII characters'),
        () => create(rig, creation, 'k', sending),
      )
  })

  it.each([['x'], ['"8e03978e-40d5-43dd-bc93-6894a57f9324"'], ['!'.repeat(128) + '~'.repeat(128)]])(
    'OUT-12 may be any visible ASCII characters, 1 to 256: %s',
    async (key) => {
      const rig = await shop()
      const first = await expectStatus(201, create(rig, OUTGOING, key))
      const padded = signs((one) => alterRequest(one, { headers: { 'idempotency-key': [` ${key}\t`] } }))
      expect((await expectStatus(201, create(rig, OUTGOING, key, padded))).text).toBe(first.text)
    },
  )

  it.each(CREATIONS)('OUT-12 counts only where the signature covers it: 401 for $name', async (creation) => {
    const rig = await shop()
    await expectStatus(201, create(rig, creation, 'k'))
    for (const key of ['k', 'unknown']) {
      const injected = signs((one) => alterRequest(one, { headers: { 'idempotency-key': [key] } }))
      const sending = { headers: {}, components: COVERED, ...injected }
      await expectRefusal(rig.wallet, INVALID_SIGNATURE, () => create(rig, creation, 'k', sending))
      // Its bytes are no longer the field that was signed.
      const replaced = signs((one) => alterRequest(one, { headers: { 'idempotency-key': [`${key}x`] } }))
      await expectRefusal(rig.wallet, INVALID_SIGNATURE, () => create(rig, creation, key, replaced))
    }
  })

  it('OUT-12 is not needed, and means nothing on other requests', async () => {
    const rig = await shop()
    const plain = { headers: {}, components: COVERED }
    const first = await expectStatus(201, create(rig, OUTGOING, '', plain))
    const second = await expectStatus(201, create(rig, OUTGOING, '', plain))
    expect(second.body.id).not.toBe(first.body.id)
    expect(rig.wallet.effects.filter(({ kind }) => kind === 'idempotency-key')).toEqual([])
    const headers = { 'idempotency-key': 'a b' }
    await expectStatus(200, rig.wallet.send('GET', first.body.id, { token: rig.spending, headers }))
    await expectStatus(200, rig.wallet.send('POST', `${rig.incoming.id}/complete`, { token: rig.receiving, headers }))
  })
})

describe('many requests under one key at once', () => {
  it.each(CREATIONS)('OUT-12 have one effect, and all get the same answer: $name', async (creation) => {
    for (let seed = 1; seed <= 6; seed++) {
      const storage = interleavedStorage(recordedStorage(), seed)
      const settings = { policies: { replay: 'all' } } as const
      const rig = await shop({ overrides: { storage, settings } })
      const identical = seed % 2 === 0
      const created = Math.floor(rig.wallet.clock.now() / 1000)
      const answers = await Promise.all(
        Array.from({ length: 6 }, (_, order) =>
          create(rig, creation, 'k', { created: identical ? created : created - order }),
        ),
      )
      expect(answers.map(({ status }) => status)).toEqual(answers.map(() => 201))
      expect(new Set(answers.map(({ text }) => text)).size).toBe(1)
      expect(made(rig, creation)).toBe(1)
      await rig.wallet.openPayments.drain()
      expect(await rig.wallet.ledger.balance('bob')).toMatchObject({ total: creation === OUTGOING ? 7n : 0n })
    }
  })

  it('OUT-12 of two bodies: one is made, the other is 409', async () => {
    for (let seed = 1; seed <= 6; seed++) {
      const rig = await shop({ overrides: { storage: interleavedStorage(recordedStorage(), seed) } })
      const bodies = [usd('7'), usd('8')].map((debitAmount) => ({ ...OUTGOING.body(rig), debitAmount }))
      const answers = await Promise.all(bodies.map((json) => create(rig, OUTGOING, 'k', { json })))
      expect(answers.map(({ status }) => status).sort()).toEqual([201, 409])
      const [kept] = answers
        .filter(({ status }) => status === 201)
        .map(({ body }: { readonly body: AnswerBody }) => body)
      expect(await spentOf(rig.wallet, rig.spending)).toEqual(spent(kept?.debitAmount.value ?? ''))
    }
  })
})
