import type { SigningKey } from 'open-payments-server/testing'
import { expect } from 'vitest'
import { type RecordedStorage, recordedStorage } from '../../support/recorded-storage.ts'
import { type Answer, BASE, CLIENT, type Client, type TestWallet, testWallet } from '../../support/test-wallet.ts'
import { seededCryptography } from '../seeded-cryptography.ts'
import type { Bearer, Choice } from './commands.ts'
import { watchFinalRecords } from './final-records.ts'
import { PRICING } from './prices.ts'
import { INCOMING_MILLISECONDS, QUOTE_MILLISECONDS } from './resources.ts'
import { type Caller, covers, holds, isUsable } from './rights.ts'
import { type Expected, INACTIVE, type Model, newModel, type TokenModel } from './state.ts'

/** A wallet, and what the specification says about it. */
export interface ModelWorld {
  readonly wallet: TestWallet
  readonly storage: RecordedStorage
  readonly model: Model
  /** Two with wallet addresses here, whose keys have one and the same name, and one that is known by its key alone. */
  readonly clients: readonly Client[]
  /** What was final and changed. */
  readonly broken: readonly string[]
  /** Sends a request that must be answered as the model says, and lets everything that follows from it happen. */
  expect(expected: Expected, caller: Caller, method: string, url: string, json?: unknown): Promise<void>
}

const OTHER = `${BASE}/other`

export async function modelWorld(keys: readonly SigningKey[]): Promise<ModelWorld> {
  const cryptography = seededCryptography('model')
  const broken: string[] = []
  const storage = recordedStorage()
  const wallet = await testWallet({
    storage: watchFinalRecords(storage, broken),
    cryptography,
    pricing: PRICING,
    settings: {
      lifetimes: { incomingPaymentSeconds: INCOMING_MILLISECONDS / 1000, quoteSeconds: QUOTE_MILLISECONDS / 1000 },
    },
  })
  const names = [CLIENT, OTHER]
  const clients = keys.map((key, index) => ({ key, client: names[index] ?? { jwk: key.jwk } }))
  for (const [index, name] of names.entries()) {
    const jwk = keys[index]?.jwk
    wallet.directory.set(name, { account: 'bob', assetCode: 'USD', assetScale: 2, ...(jwk && { keys: [jwk] }) })
  }
  wallet.directory.set(INACTIVE, { account: 'bob', assetCode: 'USD', assetScale: 2, isActive: false })
  let requests = 0
  const send = async ({ presented, signer }: Caller, method: string, url: string, json: unknown): Promise<Answer> =>
    wallet.send(method, url, {
      cryptography,
      ...asClient(clients, signer),
      ...(presented !== undefined && { token: presented }),
      ...(json !== undefined && { json }),
      // Two equal payments in one second are two payments.
      nonce: `${requests++}`,
    })
  return {
    wallet,
    storage,
    model: newModel(),
    clients,
    broken,
    expect: async (expected, caller, method, url, json) => {
      const answer = await send(caller, method, url, json)
      if ('code' in expected)
        expect([answer.status, answer.body?.error?.code]).toEqual([expected.status, expected.code])
      else {
        expect({ status: answer.status, body: answer.body }).toEqual({ status: expected.status, body: expected.body })
        expected.learn?.(answer.body)
      }
      await wallet.openPayments.drain()
    },
  }
}

function asClient(clients: readonly Client[], index: number): { readonly as?: Client } {
  const as = clients[index]
  return as === undefined ? {} : { as }
}

/** What a command means: the newest is the first. */
export function choose<T>(items: readonly T[], { kind, pick }: Choice, isApt: (item: T) => boolean): T | undefined {
  if (kind === 'unknown' || kind === 'foreign') return undefined
  const apt = kind === 'apt' ? items.filter(isApt) : []
  const from = apt.length > 0 ? apt : items
  return from.at(-1 - (pick % Math.max(1, from.length)))
}

/** Whether a token can do something at a moment. */
export function isAptFor(
  now: number,
  type: string,
  action: string,
  walletAddress?: string,
): (token: TokenModel) => boolean {
  return (token) =>
    isUsable(token, now) &&
    token.grant.access.some(
      (entry) => holds(entry, type, action) && (walletAddress === undefined || covers(entry, walletAddress)),
    )
}

/** Who calls: by default with a token that can do this, and as its client. */
export function callerOf(
  { model, wallet }: ModelWorld,
  { kind, pick, signer }: Bearer,
  type: string,
  action: string,
  walletAddress?: string,
): Caller {
  const now = wallet.clock.now()
  if (kind === 'none') return { presented: undefined, signer: signer ?? 0 }
  const isApt = isAptFor(now, type, action, walletAddress)
  const token =
    kind === 'garbage' ? undefined : choose(model.tokens, { kind: kind === 'apt' ? 'apt' : 'any', pick }, isApt)
  if (token === undefined) return { presented: 'no-such-token', signer: signer ?? 0 }
  const { client, continueToken } = token.grant
  return { presented: kind === 'continuation' ? continueToken : token.value, signer: signer ?? client }
}

/** The URL of something chosen; of nothing where nothing was, or of another server's. */
export function urlOf(chosen: { readonly url: string } | undefined, collection: string, choice?: Choice): string {
  if (choice?.kind === 'foreign') return `https://elsewhere.example/${collection}/${'1'.repeat(32)}`
  return chosen?.url ?? `${BASE}/${collection}/${'0'.repeat(32)}`
}
