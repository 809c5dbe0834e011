import type { HttpRequest, HttpResponse, OpenPaymentsEvent, Storage, StoredRecord } from 'open-payments-server'
import { consentPage } from 'open-payments-server/consent'
import { memoryStorage } from 'open-payments-server/storage/memory'
import { createSigningKey, type InMemoryRequest, type SigningKey, signedRequest } from 'open-payments-server/testing'
import { bodyText } from '../support/body-text.ts'
import { AUTH, addClient, BASE, cryptography, OWNER, type TestWallet, testWallet } from '../support/test-wallet.ts'
import { type Random, randomFor } from './random.ts'

/** What is asked, and how it is signed. */
export interface Plan {
  readonly method: string
  readonly url: string
  readonly token?: string | undefined
  readonly json?: unknown
  /** Instead of `json`. */
  readonly body?: string | Uint8Array
  readonly headers?: Readonly<Record<string, string>>
  readonly signing?: {
    readonly key?: SigningKey
    readonly age?: number
    readonly expires?: number
    readonly alg?: string
    readonly nonce?: string
    readonly tag?: string
    readonly label?: string
    readonly components?: readonly string[]
  }
}

/** What a request did. */
export interface Outcome {
  readonly response: HttpResponse
  readonly events: readonly OpenPaymentsEvent[]
  /** The records that are not what they were before, replay claims apart. */
  readonly changes: readonly string[]
  readonly isMoneyMoved: boolean
  /** Processor time, in milliseconds. */
  readonly spent: number
}

/** A wallet under attack. */
export interface FuzzWorld {
  readonly wallet: TestWallet
  readonly authServer: string
  readonly keys: readonly SigningKey[]
  /** Texts that the server has given out: ids, tokens, references, URLs. */
  readonly pool: string[]
  sign(plan: Plan): Promise<InMemoryRequest>
  /** Sends, waits for all that follows, and lets a second pass. */
  play(request: HttpRequest): Promise<Outcome>
  /** The same for what may be served by a host: `send` reaches the server in its own way. */
  observe(send: () => Promise<HttpResponse>): Promise<Outcome>
}

interface Watched extends Storage {
  /** The records that differ since the last time that this was asked. */
  changes(): readonly string[]
}

const asText = (value: unknown): string =>
  JSON.stringify(value, (_, member) => (typeof member === 'bigint' ? `${member}n` : member))

/**
 * What a record says to whoever reads it by the API. A payment that the ledger has refused is remembered, unseen, so
 * that it is never begun again; and what it was charged to is as if it had not been.
 */
function traceOf({ value, dueAt, isListed }: StoredRecord): string | undefined {
  if ('spendingIds' in value && value.state === 'refused') return undefined
  if (!('debit' in value)) return asText([value, dueAt, isListed])
  return value.debit.value === 0n
    ? undefined
    : asText([value.debit, value.receive.filter(({ value: sum }) => sum !== '0')])
}

// All that is written goes through `commit`, so this sees what a dump of the store before and after would show.
function watched(inner: Storage): Watched {
  const present = new Map<string, string | undefined>()
  const before = new Map<string, string | undefined>()
  return {
    ...inner,
    async commit(changes) {
      const outcome = await inner.commit(changes)
      if (outcome !== 'committed') return outcome
      for (const change of changes) {
        if (change.kind === 'replay-claim' || change.action === 'check') continue
        const key = `${change.kind} ${'value' in change ? change.value.id : change.id}`
        if (!before.has(key)) before.set(key, present.get(key))
        present.set(key, 'value' in change ? traceOf({ version: 0, ...change }) : undefined)
      }
      return outcome
    },
    changes() {
      const keys = [...before].filter(([key, text]) => present.get(key) !== text).map(([key]) => key)
      before.clear()
      return keys
    },
  }
}

const ACCOUNTS = ['alice', 'bob', 'carol', 'closed', 'fees:USD:2', 'clearing:USD:2', 'fees:EUR:4', 'clearing:EUR:4']
const DAY = 86_400

function settingsFor(random: Random) {
  return {
    lifetimes: { accessTokenSeconds: DAY, interactionSeconds: DAY, quoteSeconds: DAY },
    policies: {
      replay: random.pick(['payments', 'all'] as const),
      keyBinding: random.pick(['client', 'key'] as const),
      quoteBinding: random.pick(['walletAddress', 'client'] as const),
      intervalCounting: random.pick(['additional', 'total'] as const),
    },
  }
}

/** Makes a wallet whose every choice, and every secret, comes from the seed. */
export async function fuzzWorld(seed: number, number: number): Promise<FuzzWorld> {
  const random = randomFor(seed, -number - 2)
  const storage = watched(memoryStorage())
  const authServer = random.oneIn(2) ? AUTH : `${BASE}/auth`
  const wallet = await testWallet({
    storage,
    authServer,
    settings: settingsFor(random),
    cryptography: {
      ...cryptography,
      randomBytes: (length) => Uint8Array.from({ length }, () => random.below(256)),
    },
    consent: consentPage({ walletName: 'A Wallet', authenticate: async () => OWNER }),
  })
  const other = await addClient(wallet, 'other')
  const stranger = await createSigningKey(cryptography, wallet.client.key.keyId)
  wallet.directory.set(`${BASE}/inactive`, { account: 'alice', assetCode: 'USD', assetScale: 2, isActive: false })
  wallet.directory.set(`${BASE}/closed`, { account: 'closed', assetCode: 'USD', assetScale: 2 })
  await wallet.ledger.createAccount({
    account: 'closed',
    assetCode: 'USD',
    assetScale: 2,
    canReceive: false,
    canSend: false,
  })

  const balances = async (): Promise<string> =>
    asText(await Promise.all(ACCOUNTS.map((account) => wallet.ledger.balance(account))))
  let held = await balances()
  const pool: string[] = []
  const observe = async (send: () => Promise<HttpResponse>): Promise<Outcome> => {
    storage.changes()
    const events = wallet.events.length
    const started = process.cpuUsage()
    const response = await inTime(send())
    const { user, system } = process.cpuUsage(started)
    await inTime(wallet.openPayments.drain())
    const before = held
    held = await balances()
    remember(pool, response)
    wallet.clock.advance(1_000)
    return {
      response,
      events: wallet.events.slice(events),
      changes: storage.changes(),
      isMoneyMoved: held !== before,
      spent: (user + system) / 1_000,
    }
  }
  return {
    wallet,
    authServer,
    keys: [wallet.client.key, other.key, stranger],
    pool,
    observe,
    play: (request) => observe(() => wallet.openPayments.handle(request)),
    sign: async ({ signing: { key = wallet.client.key, age = 0, ...options } = {}, token, ...plan }) =>
      signedRequest({
        ...plan,
        ...options,
        ...(token !== undefined && { token }),
        key,
        cryptography,
        created: Math.floor(wallet.clock.now() / 1000) - age,
      }),
  }
}

/** Real time, and much more than any answer takes on a busy machine. */
async function inTime<T>(work: Promise<T>): Promise<T> {
  let timer: NodeJS.Timeout | undefined
  const late = new Promise<never>((_, reject) => {
    timer = setTimeout(() => reject(new Error('no answer came')), 50_000)
  })
  return Promise.race([work, late]).finally(() => clearTimeout(timer))
}

const REMEMBERED = 150

function remember(pool: string[], response: HttpResponse): void {
  const texts = [
    response.headers['location'] ?? '',
    ...(bodyText(response)?.match(/"[^"\\]{16,300}"/g) ?? []).map((text) => text.slice(1, -1)),
  ]
  for (const text of texts) {
    if (text === '' || pool.includes(text)) continue
    pool.push(text, ...(text.startsWith('http') ? [text.slice(text.lastIndexOf('/') + 1)] : []))
  }
  if (pool.length > REMEMBERED) pool.splice(0, pool.length - REMEMBERED)
}
