import type { LedgerResult } from 'open-payments-server'
import { AccountFilterFlags, type Client, type Transfer, TransferFlags } from 'tigerbeetle-node'
import { expect, it } from 'vitest'
import { type TigerBeetleWallet, tigerBeetleWallet } from './ledger-wallets.ts'
import { fakeTigerBeetle } from './tigerbeetle-fake.ts'

const USD = { assetCode: 'USD', assetScale: 2 }
const usd = (value: bigint) => ({ value, ...USD })
const counterparty = { kind: 'local', account: 'bob', incomingPayment: 'incoming' } as const
const hold = { id: 'a'.repeat(32), account: 'alice', amount: usd(400n), counterparty }
const tooMuch = { ...hold, id: 'c'.repeat(32), amount: usd(1001n) }
const credit = { id: 'b'.repeat(32), account: 'bob', amount: usd(390n), counterparty }
const settlement = { id: hold.id, amount: usd(400n), fee: usd(10n) }
const DONE = { ok: true }
const refused = (reason: string) => ({ ok: false, reason })

/** What happens to a request: it, or its answer, is lost. */
type Fault = 'request' | 'answer'

interface FaultyWallet extends TigerBeetleWallet {
  readonly client: Client
  /** Loses something of a request of the ledger, counted from now. */
  lose(fault: Fault, request: number): void
  /** Whether a request has been lost since. */
  hasLost(): boolean
}

/** Alice with 1000 and Bob with 500 in a TigerBeetle whose connection may break. */
async function openWallet(): Promise<FaultyWallet> {
  const cluster = fakeTigerBeetle()
  const sound = cluster.connect()
  let fault: Fault = 'request'
  let left = 0
  const passOn = async <T>(request: () => Promise<T>): Promise<T> => {
    left -= 1
    if (left === 0 && fault === 'request') throw new Error('injected: the request was lost')
    const answer = await request()
    if (left === 0) throw new Error('injected: the answer was lost')
    return answer
  }
  const faulty: Client = {
    ...sound,
    createTransfers: (batch) => passOn(() => sound.createTransfers(batch)),
    lookupTransfers: (batch) => passOn(() => sound.lookupTransfers(batch)),
  }
  const wallet = await tigerBeetleWallet([faulty])
  await wallet.openAccount('alice', USD, 1000n)
  await wallet.openAccount('bob', USD, 500n)
  return {
    ...wallet,
    client: sound,
    lose: (what, request) => {
      fault = what
      left = request
    },
    hasLost: () => left <= 0,
  }
}

const blank = {
  ...{ debit_account_id: 0n, credit_account_id: 0n, amount: 0n, pending_id: 0n, ledger: 0, code: 0, flags: 0 },
  ...{ user_data_128: 0n, user_data_64: 0n, user_data_32: 0, timeout: 0, timestamp: 0n },
}

const CLOSING = 70n

/** Sets TigerBeetle's own flag `closed` on an account, as its documentation says: by a pending transfer of nothing. */
async function closeInTigerBeetle({ client, idOf }: FaultyWallet, account: string): Promise<void> {
  const flags = TransferFlags.pending | TransferFlags.closing_debit
  const sides = { debit_account_id: idOf(account), credit_account_id: 1n, ledger: 840, code: 9 }
  await client.createTransfers([{ ...blank, ...sides, id: CLOSING, flags }])
}

async function reopenInTigerBeetle({ client }: FaultyWallet): Promise<void> {
  const flags = TransferFlags.void_pending_transfer
  await client.createTransfers([{ ...blank, id: CLOSING + 1n, pending_id: CLOSING, flags }])
}

async function find({ client }: FaultyWallet, id: string): Promise<Transfer | undefined> {
  return (await client.lookupTransfers([BigInt(`0x${id}`)]))[0]
}

/** Calls of every outcome: what has to happen before, the call, its answer, and what is available to Alice and Bob then. */
const CALLS: Readonly<
  Record<
    string,
    {
      readonly before?: (wallet: TigerBeetleWallet) => Promise<unknown>
      readonly call: (wallet: TigerBeetleWallet) => Promise<LedgerResult>
      readonly answer: unknown
      readonly after: readonly [bigint, bigint]
    }
  >
> = {
  'a hold': { call: ({ ledger }) => ledger.hold(hold), answer: DONE, after: [600n, 500n] },
  'a hold of too much': {
    call: ({ ledger }) => ledger.hold(tooMuch),
    answer: refused('insufficient_funds'),
    after: [1000n, 500n],
  },
  'a hold on no account': {
    call: ({ ledger }) => ledger.hold({ ...hold, account: 'nobody' }),
    answer: refused('account_closed'),
    after: [1000n, 500n],
  },
  'a credit': { call: ({ ledger }) => ledger.credit(credit), answer: DONE, after: [1000n, 890n] },
  'a credit of a closed account': {
    before: (wallet) => wallet.setClosed('bob', true),
    call: ({ ledger }) => ledger.credit(credit),
    answer: refused('account_closed'),
    after: [1000n, 500n],
  },
  'a settlement': {
    before: ({ ledger }) => ledger.hold(hold),
    call: ({ ledger }) => ledger.settle({ ...settlement, amount: usd(300n) }),
    answer: DONE,
    after: [700n, 500n],
  },
  'a release': {
    before: ({ ledger }) => ledger.hold(hold),
    call: ({ ledger }) => ledger.release({ id: hold.id }),
    answer: DONE,
    after: [1000n, 500n],
  },
}

it.each(Object.entries(CALLS))(
  '%s has one effect and one answer, whatever is lost of its requests',
  async (_name, { before, call, answer, after }) => {
    let lost = 0
    for (const fault of ['request', 'answer'] as const) {
      for (let request = 1; ; request++) {
        const wallet = await openWallet()
        await before?.(wallet)
        wallet.lose(fault, request)
        const first = await call(wallet).catch(() => 'unknown')
        if (!wallet.hasLost()) break
        lost += 1
        expect(first).toBe('unknown')
        expect(await call(wallet)).toEqual(answer)
        expect(await call(wallet)).toEqual(answer)
        expect([await wallet.available('alice'), await wallet.available('bob')]).toEqual(after)
        expect(await wallet.total(USD)).toBe(1500n)
      }
    }
    expect(lost).toBeGreaterThanOrEqual(2)
  },
)

it('keeps a refusal that it was about to give when it crashed, even if money comes meanwhile', async () => {
  const wallet = await openWallet()
  const { ledger } = wallet
  wallet.lose('request', 2)
  await expect(ledger.hold(tooMuch)).rejects.toThrow('lost')
  expect(await ledger.credit({ ...credit, account: 'alice' })).toEqual(DONE)
  expect(await ledger.hold(tooMuch)).toEqual(refused('insufficient_funds'))
  expect(await wallet.available('alice')).toBe(1390n)
})

it('gives a hold its own id, no timeout, and all that it was asked for', async () => {
  const wallet = await openWallet()
  await wallet.ledger.hold(hold)
  expect(await find(wallet, hold.id)).toMatchObject({
    ...{ debit_account_id: wallet.idOf('alice'), credit_account_id: 1n, amount: 400n, ledger: 840, code: 1 },
    ...{ flags: TransferFlags.pending, timeout: 0 },
  })
})

it('books all of a payment through clearing, so that the page on reconciliation finds it there', async () => {
  const wallet = await openWallet()
  const { ledger, client, idOf } = wallet
  await ledger.hold(hold)
  await ledger.credit(credit)
  await ledger.settle({ ...settlement, amount: usd(390n + 7n), fee: usd(7n) })
  await ledger.hold({ ...hold, id: 'd'.repeat(32) })
  const [clearing, fees, alice, bob] = [1n, 2n, idOf('alice'), idOf('bob')]
  const filter = {
    ...{ user_data_128: 0n, user_data_64: 0n, user_data_32: 0, code: 0 },
    timestamp_min: 0n,
    timestamp_max: 0n,
  }
  const flags = AccountFilterFlags.debits | AccountFilterFlags.credits
  const transfers = await client.getAccountTransfers({ ...filter, account_id: clearing, limit: 100, flags })
  const inHex = (id: bigint): string => id.toString(16).padStart(32, '0')
  const lines = transfers.map((transfer) => {
    const { code, amount, debit_account_id: from, credit_account_id: to } = transfer
    if ((transfer.flags & TransferFlags.pending) !== 0) return `hold ${inHex(transfer.id)} ${amount}`
    const id = transfer.pending_id || (code === 3 ? transfer.user_data_128 : transfer.id)
    return code === 4 ? 'refusal' : `${inHex(id)} ${from} ${to} ${amount}`
  })
  expect(lines).toEqual([
    `hold ${hold.id} 400`,
    `${credit.id} ${clearing} ${bob} 390`,
    `${hold.id} ${clearing} ${fees} 7`,
    `${hold.id} ${alice} ${clearing} 397`,
    `hold ${'d'.repeat(32)} 400`,
  ])
})

it.each(['0'.repeat(32), 'f'.repeat(32)])('takes the id %s, which TigerBeetle does not', async (id) => {
  const wallet = await openWallet()
  const { ledger } = wallet
  expect(await ledger.hold({ ...hold, id })).toEqual(DONE)
  expect(await ledger.hold({ ...hold, id, amount: usd(399n) })).toEqual(refused('conflict'))
  expect(await ledger.settle({ ...settlement, id })).toEqual(DONE)
  expect(await ledger.release({ id })).toEqual(refused('conflict'))
  expect([await wallet.available('alice'), await wallet.fees(USD)]).toEqual([600n, 10n])
})

it('ends a hold that came after its end was asked for', async () => {
  const wallet = await openWallet()
  const { ledger } = wallet
  expect(await ledger.settle(settlement)).toEqual(refused('conflict'))
  expect(await ledger.release({ id: hold.id })).toEqual(refused('conflict'))
  expect(await ledger.hold(hold)).toEqual(DONE)
  expect(await ledger.settle(settlement)).toEqual(DONE)
  expect(await ledger.settle(settlement)).toEqual(DONE)
  expect(await ledger.settle({ ...settlement, fee: usd(9n) })).toEqual(refused('conflict'))
  expect(await ledger.settle({ ...settlement, amount: usd(399n) })).toEqual(refused('conflict'))
  expect([await wallet.available('alice'), await wallet.fees(USD)]).toEqual([600n, 10n])
})

it('settles once an account that was closed in TigerBeetle is open again, and until then gives no answer', async () => {
  const wallet = await openWallet()
  const { ledger } = wallet
  await ledger.hold(hold)
  await closeInTigerBeetle(wallet, 'alice')
  await expect(ledger.settle(settlement)).rejects.toThrow('debit_account_already_closed')
  await expect(ledger.settle(settlement)).rejects.toThrow('debit_account_already_closed')
  await reopenInTigerBeetle(wallet)
  expect(await ledger.settle(settlement)).toEqual(DONE)
  expect(await ledger.settle(settlement)).toEqual(DONE)
  expect([await wallet.available('alice'), await wallet.fees(USD)]).toEqual([600n, 10n])
})

it('releases a hold on an account that was closed in TigerBeetle', async () => {
  const wallet = await openWallet()
  await wallet.ledger.hold(hold)
  await closeInTigerBeetle(wallet, 'alice')
  expect(await wallet.ledger.release({ id: hold.id })).toEqual(DONE)
  await reopenInTigerBeetle(wallet)
  expect(await wallet.available('alice')).toBe(1000n)
})

it('keeps the refusals of an account that is closed in TigerBeetle', async () => {
  const wallet = await openWallet()
  const { ledger } = wallet
  await closeInTigerBeetle(wallet, 'alice')
  const calls = [() => ledger.hold(hold), () => ledger.credit({ ...credit, account: 'alice' })]
  for (const call of calls) expect(await call()).toEqual(refused('account_closed'))
  await reopenInTigerBeetle(wallet)
  for (const call of calls) expect(await call()).toEqual(refused('account_closed'))
  expect(await ledger.hold({ ...hold, amount: usd(1n) })).toEqual(refused('conflict'))
  expect(await wallet.available('alice')).toBe(1000n)
})

it('takes no amount for all that is held', async () => {
  const wallet = await openWallet()
  await wallet.ledger.hold(hold)
  const all = { ...settlement, amount: usd(2n ** 128n - 1n) }
  await expect(wallet.ledger.settle(all)).rejects.toThrow(RangeError)
  expect(await wallet.ledger.release({ id: hold.id })).toEqual(DONE)
})
