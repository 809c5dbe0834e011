import { memoryLedger } from 'open-payments-server/ledger/memory'
import type { SigningKey } from 'open-payments-server/testing'
import { expect } from 'vitest'
import { type FaultyPorts, faultyPorts } from '../payments/faulty-ports.ts'
import { LONG_LIFETIMES } from '../resource-server/observed-wallet.ts'
import type { AnswerBody } from '../support/answer-body.ts'
import { recordedStorage } from '../support/recorded-storage.ts'
import {
  ALICE,
  type Answer,
  AUTH,
  BASE,
  BOB,
  CAROL,
  CLIENT,
  decideAs,
  type TestWallet,
  testWallet,
} from '../support/test-wallet.ts'
import { valuesOf } from './model/final-records.ts'
import { PRICING } from './model/prices.ts'
import { type Entry, isSameAsset, windowOf } from './model/state.ts'
import { seededCryptography } from './seeded-cryptography.ts'

/** A grant with limits, what it may pay, and the ports in the way. */
export interface LimitsWorld {
  readonly wallet: TestWallet
  readonly ports: FaultyPorts
  readonly access: readonly Entry[]
  /** URLs of incoming payments: two in dollars, one in euros. */
  readonly receivers: readonly string[]
  /** Windows that were ever over their limit, right after a commit. */
  readonly exceeded: readonly string[]
  send(method: string, url: string, json?: unknown): Promise<Answer>
  rotate(): Promise<void>
}

/** The sum over all payments of a window that are reserved or settled, by the records alone. */
function overLimit(
  payments: ReturnType<typeof valuesOf<'outgoing-payment'>>,
  access: readonly Entry[],
): readonly string[] {
  const alive = payments.filter(({ state }) => state !== 'failed' && state !== 'refused')
  return access.flatMap((right, entry) => {
    const { debitAmount, receiveAmount } = right.limits ?? {}
    const sums = new Map<unknown, bigint>()
    for (const { spendingIds, createdAt, ...payment } of alive) {
      if (!spendingIds.some((id) => id.split(':')[1] === `${entry}`)) continue
      const window = windowOf(right, createdAt)
      if (window === undefined) return [`a payment of entry ${entry} has no window`]
      const isCounted = receiveAmount === undefined || isSameAsset(payment.receiveAmount, receiveAmount)
      const amount = receiveAmount === undefined ? payment.debitAmount : payment.receiveAmount
      if (isCounted) sums.set(window, (sums.get(window) ?? 0n) + amount.value)
    }
    const limit = (debitAmount ?? receiveAmount)?.value
    return [...sums].flatMap(([window, sum]) =>
      limit !== undefined && sum > BigInt(limit) ? [`entry ${entry}, window ${window}: ${sum} of ${limit}`] : [],
    )
  })
}

export async function limitsWorld(
  key: SigningKey,
  makeAccess: (receivers: readonly string[]) => readonly Entry[],
): Promise<LimitsWorld> {
  const cryptography = seededCryptography('limits')
  const exceeded: string[] = []
  const recorded = recordedStorage()
  let access: readonly Entry[] = []
  const storage: typeof recorded = {
    ...recorded,
    commit: async (changes) => {
      const outcome = await recorded.commit(changes)
      const payments = valuesOf(await recorded.records(), 'outgoing-payment')
      exceeded.push(...overLimit(payments, access))
      return outcome
    },
  }
  const accounts = [
    { account: 'alice', assetCode: 'USD', assetScale: 2, balance: 100_000n },
    { account: 'bob', assetCode: 'USD', assetScale: 2 },
    { account: 'carol', assetCode: 'EUR', assetScale: 4 },
  ]
  const clock: TestWallet['clock'] = {
    now: () => wallet.clock.now(),
    advance: (milliseconds) => wallet.clock.advance(milliseconds),
    sleep: (milliseconds, signal) => wallet.clock.sleep(milliseconds, signal),
  }
  const ports = faultyPorts({ storage, ledger: memoryLedger({ accounts }), clock })
  const settings = { lifetimes: LONG_LIFETIMES }
  const wallet = await testWallet({ storage, ledger: ports.ledger, cryptography, pricing: PRICING, settings })
  wallet.directory.set(CLIENT, { account: 'bob', assetCode: 'USD', assetScale: 2, keys: [key.jwk] })
  const as = { key, client: CLIENT }
  let token = ''
  let manage = ''
  let requests = 0
  const send = async (method: string, url: string, json?: unknown, given = token): Promise<Answer> => {
    const nonce = `${requests++}`
    const credentials = given === '' ? {} : { token: given }
    const answer = await wallet.send(method, url, {
      as,
      cryptography,
      nonce,
      ...credentials,
      ...(json !== undefined && { json }),
    })
    await wallet.openPayments.drain()
    return answer
  }
  const request = async (entries: readonly object[]): Promise<AnswerBody> => {
    const interact = { start: ['redirect'] }
    const answer = await send('POST', `${AUTH}/`, { client: CLIENT, access_token: { access: entries }, interact }, '')
    expect(answer.status).toBe(200)
    if (answer.body.access_token !== undefined) return answer.body
    await decideAs(wallet, answer)
    wallet.clock.advance(5000)
    const { uri, access_token: continuation } = answer.body.continue
    return (await send('POST', uri, undefined, continuation.value)).body
  }
  token = (await request([{ type: 'incoming-payment', actions: ['create'] }])).access_token.value
  const receivers: string[] = []
  for (const walletAddress of [BOB, BOB, CAROL])
    receivers.push((await send('POST', `${BASE}/incoming-payments`, { walletAddress })).body.id)
  access = makeAccess(receivers)
  const granted = await request([...access, { type: 'quote', actions: ['create'] }])
  ;({ value: token, manage } = granted.access_token)
  return {
    wallet,
    ports,
    access,
    receivers,
    exceeded,
    send,
    rotate: async () => {
      const { body } = await send('POST', manage)
      ;({ value: token, manage } = body.access_token)
    },
  }
}

/** The payments of Alice, as the list says. */
export async function listedPayments({
  send,
}: LimitsWorld): Promise<ReadonlyMap<string, AnswerBody & { readonly failed?: boolean }>> {
  const { body } = await send('GET', `${BASE}/outgoing-payments?first=100&wallet-address=${encodeURIComponent(ALICE)}`)
  return new Map(body.result.map((item) => [item.id, item]))
}
