import { type Change, createOpenPayments, keepGoing, type Ledger } from 'open-payments-server'
import { memoryLedger } from 'open-payments-server/ledger/memory'
import { memoryStorage } from 'open-payments-server/storage/memory'
import { describe, expect, it } from 'vitest'
import { idOf } from '../../src/testing/ledger-case.ts'
import { fakeClock } from '../support/fake-clock.ts'
import { NO_PAGE } from '../support/no-page.ts'
import { ALICE, AUTH, BASE, BOB, SECRET, usdAmount } from '../support/test-wallet.ts'
import { turns } from '../support/turns.ts'

const CLIENT = 'https://shop.example/pay'
const RECEIVER = idOf(0)

/** What is due, the longest first: who pays, who is paid, and from where. */
interface Due {
  readonly from: string
  readonly to: string
  /** Default: `created`. */
  readonly state?: 'created' | 'sending' | 'decided'
}

function paymentOf({ from, to, state = 'created' }: Due, number: number, now: number): Change {
  const value = {
    id: idOf(number),
    walletAddress: ALICE,
    client: CLIENT,
    state,
    states: [{ state, at: now }],
    createdAt: now,
    receiver: `${BASE}/incoming-payments/${RECEIVER}`,
    debitAmount: usdAmount(1n),
    receiveAmount: usdAmount(1n),
    fee: usdAmount(0n),
    sentAmount: usdAmount(0n),
    account: from,
    payeeAccount: to,
    incomingPaymentId: RECEIVER,
    grantId: idOf(0),
    spendingIds: [],
    attempts: 0,
    ...(state === 'decided' && { decision: { action: 'settle', amount: 1n, fee: 0n } as const }),
  } as const
  return { action: 'insert', kind: 'outgoing-payment', dueAt: now + number, isListed: true, value }
}

function receiptOf({ from, to }: Due, number: number, now: number): Change {
  const value = {
    id: idOf(number),
    incomingPaymentId: RECEIVER,
    payeeAccount: to,
    railAccountId: from,
    amount: usdAmount(1n),
    state: 'reserved',
    createdAt: now,
  } as const
  return { action: 'insert', kind: 'receipt', dueAt: now + number, value }
}

/** The end of either, as it is stored. */
const ENDS: readonly string[] = ['completed', 'credited']

/**
 * A wallet with so much that is due, whose ledger answers nothing for the accounts that `hang`, and refuses every credit of a
 * payment from one that is `unwelcome`.
 */
async function scene(dues: readonly Due[]) {
  const clock = fakeClock()
  const storage = memoryStorage()
  const accounts = [...new Set(dues.flatMap(({ from, to }) => [from, to]))]
  const asset = { assetCode: 'USD', assetScale: 2, balance: 1_000_000n }
  const books = memoryLedger({ accounts: accounts.map((account) => ({ account, ...asset })) })
  const hang = new Set<string>()
  const unwelcome = new Set<string>()
  const payerOf = (id: string): string => `${dues[Number(`0x${id}`) - 1]?.from}`
  let asked = 0
  const isAsked = async <T>(account: string, call: () => Promise<T>): Promise<T> => {
    asked++
    return hang.has(account) ? new Promise(() => undefined) : call()
  }
  const ledger: Ledger = {
    ...books,
    hold: (hold) => isAsked(hold.account, () => books.hold(hold)),
    credit: (credit) =>
      isAsked(credit.account, async () => {
        const { counterparty } = credit
        const isRefused = counterparty.kind === 'local' && unwelcome.has(counterparty.account)
        return isRefused ? { ok: false, reason: 'not_allowed' } : books.credit(credit)
      }),
    settle: (settlement) => isAsked(`settlement of ${payerOf(settlement.id)}`, () => books.settle(settlement)),
    release: (release) => isAsked(`release of ${payerOf(release.id)}`, () => books.release(release)),
  }
  const isByRail = ({ from }: Due): boolean => from.startsWith('ilp:')
  const incoming = {
    id: RECEIVER,
    walletAddress: BOB,
    account: 'bob',
    client: CLIENT,
    state: 'pending',
    createdAt: clock.now(),
    received: usdAmount(0n),
    reserved: usdAmount(BigInt(dues.filter(isByRail).length)),
    secretId: 'f00d',
  } as const
  const records = dues.map((due, index) => (isByRail(due) ? receiptOf : paymentOf)(due, index + 1, clock.now()))
  for (const change of [{ action: 'insert', kind: 'incoming-payment', value: incoming } as const, ...records])
    await storage.commit([change])
  for (const [index, { from, to, state }] of dues.entries()) {
    const counterparty = { kind: 'local', account: to, incomingPayment: RECEIVER } as const
    if (state !== undefined)
      await books.hold({ id: idOf(index + 1), account: from, amount: usdAmount(1n), counterparty })
  }
  clock.advance(10_000)
  // All time passes in `pass`, that of pauses too.
  const standing = {
    ...clock,
    sleep: (ms: number, signal: AbortSignal = new AbortController().signal) => clock.sleep(ms, signal),
  }
  const openPayments = createOpenPayments({
    authServer: AUTH,
    resourceServer: BASE,
    secrets: [SECRET],
    storage,
    ledger,
    walletAddresses: { find: async () => undefined },
    consent: NO_PAGE,
    clock: standing,
    onEvent: () => undefined,
  })
  /** How many have come to an end, of those that pay to or from this account. */
  const endedOf = async (account: string): Promise<number> => {
    const keys = dues.flatMap((due, index) => {
      const kind: 'receipt' | 'outgoing-payment' = isByRail(due) ? 'receipt' : 'outgoing-payment'
      return [due.from, due.to].includes(account) ? [{ kind, id: idOf(index + 1) }] : []
    })
    const found = await storage.get(keys)
    return found.filter((record) => record && 'state' in record.value && ENDS.includes(record.value.state)).length
  }
  const pass = async (seconds: number): Promise<void> => {
    for (let left = seconds * 10; left > 0; left--) {
      await turns(30)
      clock.advance(100)
    }
    await turns(30)
  }
  return { openPayments, clock: standing, hang, unwelcome, endedOf, pass, asked: () => asked }
}

const many = (count: number, due: Due): readonly Due[] => Array.from({ length: count }, () => due)

describe('an account that the ledger hangs for', () => {
  it.each<[string, number, Due, Due]>([
    ['payments from it', 200, { from: 'stuck', to: 'bob' }, { from: 'alice', to: 'bob' }],
    ['payments to it', 200, { from: 'alice', to: 'stuck' }, { from: 'carol', to: 'bob' }],
    ['money from a peer for it', 200, { from: 'ilp:a', to: 'stuck' }, { from: 'ilp:a', to: 'bob' }],
    ['money from a peer for it, and payments', 200, { from: 'ilp:a', to: 'stuck' }, { from: 'alice', to: 'bob' }],
    ['more payments from it than are read at once', 2000, { from: 'stuck', to: 'bob' }, { from: 'alice', to: 'bob' }],
    ['more money for it than is read at once', 2000, { from: 'ilp:a', to: 'stuck' }, { from: 'ilp:a', to: 'bob' }],
  ])('keeps others for two seconds at most: %s', async (_what, count, stuck, healthy) => {
    const { openPayments, clock, hang, endedOf, pass } = await scene([...many(count, stuck), ...many(200, healthy)])
    hang.add('stuck')
    const stop = keepGoing(openPayments, clock)
    await pass(2)
    expect(await endedOf(healthy.from === 'ilp:a' ? healthy.to : healthy.from)).toBe(200)
    hang.clear()
    for (let minutes = 10; minutes > 0 && (await endedOf('stuck')) < count; minutes--) await pass(60)
    expect(await endedOf('stuck')).toBe(count)
    const stopped = stop()
    await pass(1)
    await stopped
  })

  it.each<[string, readonly string[], Due, Due]>([
    [
      'those who pay the same payee',
      ['settlement of stuck'],
      { from: 'stuck', to: 'bob', state: 'sending' },
      { from: 'alice', to: 'bob', state: 'sending' },
    ],
    [
      'those who pay the same payee, who takes nothing from it',
      ['release of stuck'],
      { from: 'stuck', to: 'bob', state: 'sending' },
      { from: 'alice', to: 'bob', state: 'sending' },
    ],
    ['a payer of it who pays others too', ['stuck'], { from: 'alice', to: 'stuck' }, { from: 'alice', to: 'bob' }],
    [
      'a payer of it whose payment only has to be settled',
      ['stuck'],
      { from: 'carol', to: 'stuck', state: 'sending' },
      { from: 'bob', to: 'stuck', state: 'decided' },
    ],
  ])('keeps nobody from another account: %s', async (_what, hanging, stuck, healthy) => {
    const { openPayments, clock, hang, unwelcome, endedOf, pass } = await scene([
      ...many(600, stuck),
      ...many(200, healthy),
    ])
    for (const account of hanging) hang.add(account)
    if (hanging.includes('release of stuck')) unwelcome.add('stuck')
    void keepGoing(openPayments, clock)
    await pass(2.9)
    expect(await endedOf('bob')).toBe(200)
  })

  it('is asked about no more of them while the first are not answered', async () => {
    const { openPayments, clock, hang, pass, asked } = await scene(many(200, { from: 'stuck', to: 'bob' }))
    hang.add('stuck')
    void keepGoing(openPayments, clock)
    await pass(2)
    expect(asked()).toBe(100)
  })

  it('keeps drain() until what was taken up has got as far as it can', async () => {
    const { openPayments, hang, pass } = await scene(many(1, { from: 'stuck', to: 'bob' }))
    hang.add('stuck')
    const recovered = openPayments.recover()
    await pass(2)
    expect(await recovered).toBe(1)
    let isDrained = false
    const drained = openPayments.drain().then(() => {
      isDrained = true
    })
    await pass(1)
    expect(isDrained).toBe(false)
    await pass(10)
    await drained
  })

  it('is one of many: no more than 256 go on while recover() takes up others', async () => {
    const dues = Array.from({ length: 600 }, (_, number) => ({ from: `stuck ${number}`, to: 'bob' }))
    const { openPayments, clock, hang, pass, asked } = await scene(dues)
    for (const { from } of dues) hang.add(from)
    void keepGoing(openPayments, clock)
    // Each is asked for at once, and the next time 3 seconds later.
    await pass(2.9)
    expect(asked()).toBe(300)
    await pass(6)
    expect(asked()).toBe(900)
  })
})
