import type { HttpRequest, PublicKey } from 'open-payments-server'
import { memoryLedger } from 'open-payments-server/ledger/memory'
import { memoryStorage } from 'open-payments-server/storage/memory'
import { type SignedRequestOptions, signedRequest } from 'open-payments-server/testing'
import { expect } from 'vitest'
import { bodyText } from '../support/body-text.ts'
import { cryptography, type TestWallet, testWallet } from '../support/test-wallet.ts'
import { countGlobals } from './counted-globals.ts'
import { type Counts, countCalls, createCounter } from './counter.ts'

/** A wallet whose ports are counted, and whose client has its wallet address on another server. */
export interface CountedWallet extends TestWallet {
  /** What a request costs that the client signs, from the request to the end of what goes on after its answer. */
  costOf(asked: Omit<SignedRequestOptions, 'key' | 'cryptography' | 'created'>): Promise<Counts>
  /** The same for one that nobody signs. */
  costOfPlain(request: HttpRequest): Promise<Counts>
  /** What some work costs, from its beginning to the end of what goes on after it. */
  costOfWork(work: () => Promise<void>): Promise<Counts>
}

const ACCOUNTS = [
  { account: 'alice', assetCode: 'USD', assetScale: 2, balance: 100_000n },
  { account: 'bob', assetCode: 'USD', assetScale: 2, balance: 0n },
] as const

const CRYPTOGRAPHY: ReadonlyMap<string, string> = new Map([
  ['verifyEd25519', 'verify'],
  ['sha256', 'digest'],
  ['sha512', 'digest'],
  ['hmacSha256', 'hmac'],
])

export async function countedWallet(): Promise<CountedWallet> {
  const counter = createCounter()
  const storage = countCalls(memoryStorage(), counter, (method) => (method === 'commit' ? 'commit' : 'read'))
  const keys: PublicKey[] = []
  const resolver = { keySet: async () => ({ ok: true, keys }) as const, publicName: async () => 'A Shop' }
  const wallet = await testWallet({
    storage: {
      ...storage,
      commit: (changes) => {
        counter.add('change', changes.length)
        return storage.commit(changes)
      },
    },
    ledger: countCalls(memoryLedger({ accounts: ACCOUNTS }), counter, () => 'ledger'),
    keyResolver: countCalls(resolver, counter, () => 'keys'),
    cryptography: countCalls(cryptography, counter, (method) => CRYPTOGRAPHY.get(method)),
  })
  const { key } = wallet.client
  keys.push(key.jwk)
  const costOfWork = async (work: () => Promise<void>): Promise<Counts> => {
    await wallet.openPayments.drain()
    counter.take()
    await countGlobals(counter, async () => {
      await work()
      await wallet.openPayments.drain()
    })
    return counter.take()
  }
  const costOfPlain = (signed: HttpRequest): Promise<Counts> => {
    // Every host knows at once that there is no body, and has to wait for one that there is.
    const request = signed.method === 'GET' ? { ...signed, bytes: () => new Uint8Array() } : signed
    return costOfWork(async () => {
      const answer = await wallet.openPayments.handle(request)
      expect(answer.status, bodyText(answer)).toBeLessThan(300)
    })
  }
  return {
    ...wallet,
    client: { key, client: 'https://shop.example/client' },
    costOfPlain,
    costOfWork,
    costOf: async (asked) => {
      const created = Math.floor(wallet.clock.now() / 1000)
      return costOfPlain(await signedRequest({ ...asked, key, cryptography, created }))
    },
  }
}
