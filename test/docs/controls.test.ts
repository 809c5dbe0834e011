import type { AuditedPayment } from 'open-payments-server'
import { openSqlite, sqliteStorage } from 'open-payments-server/storage/sqlite'
import { expect, it } from 'vitest'
import { readText } from '../architecture/source-tree.ts'
import {
  grantTokens,
  moneyWorld,
  type Process,
  type ProcessAnswer,
  pay,
  preparePayment,
  recoverUntilQuiet,
  type World,
} from '../payments/money-world.ts'
import { lastSegment } from '../support/last-segment.ts'
import {
  ALICE,
  BASE,
  CLIENT,
  incomingPayment,
  spendingToken,
  testLedger,
  testWallet,
  usd,
} from '../support/test-wallet.ts'
import { codeBlocksOf } from './markdown.ts'

const rows = [...readText('docs/controls.md').matchAll(/^\| (.+) \| .+ \| (\d.+) \| `(.+)` \|$/gm)]
const [readOrder = '', erase = ''] = codeBlocksOf('docs/controls.md').flatMap(({ language, code }) =>
  language === 'sql' ? [code] : [],
)

function changeAddress({ wallet }: World, url: string, members: object): void {
  const found = wallet.directory.get(url)
  if (found !== undefined) wallet.directory.set(url, { ...found, ...members })
}

/** How each row of the page stops payments, by its first cell. */
const STOPS: Readonly<Record<string, (world: World, process: Process) => unknown>> = {
  everybody: (_world, { ports }) => {
    ports.plan = ({ name }) => (name === 'hold' ? { refuse: 'not_allowed' } : undefined)
  },
  'one payer': ({ ledger }) => ledger.setPermissions('alice', { canSend: false, canReceive: true }),
  'one payee': ({ ledger }) => ledger.setPermissions('bob', { canSend: true, canReceive: false }),
  'one customer, both ways': (world) => changeAddress(world, ALICE, { isActive: false }),
  'one client': (world) => changeAddress(world, CLIENT, { keys: [] }),
  'one client at one customer': async ({ wallet }) => {
    const { grants } = wallet.openPayments
    for (const { id } of await grants.list(ALICE)) await grants.revoke(ALICE, id)
  },
}

it('the page on controls has a row for every stop that is tried here', () => {
  expect(rows.map(([, name]) => name)).toEqual(Object.keys(STOPS))
})

it.each(Object.entries(STOPS))('the page on controls is right about a stop of %s', async (name, stop) => {
  const world = await moneyWorld()
  const tokens = await grantTokens(world)
  const [begun, ordered] = [await preparePayment(world, tokens), await preparePayment(world, tokens)]
  const process = world.start()
  process.ports.plan = (call) => (call.name === 'credit' ? 'throws' : undefined)
  const underWay = await pay(world, process, begun)
  process.ports.plan = () => undefined
  await stop(world, process)
  const answer = await pay(world, process, ordered)
  await recoverUntilQuiet(world)
  const wordsOf = (one: ProcessAnswer | undefined) => [one?.status, one?.body.error?.code].filter(Boolean).join(' ')
  const payments = (await world.storage.all('outgoing-payment')).map(({ value }) => value)
  const state = payments.find(({ id }) => id === lastSegment(underWay?.body.id ?? ''))?.state
  const [, , got = '', end] = rows.find(([, row]) => row === name) ?? []
  expect([wordsOf(answer), state]).toEqual([got.replaceAll('`', ''), end])
  // What was answered 201 all the same is not paid.
  expect(payments.filter((one) => one.state === 'completed')).toHaveLength(end === 'completed' ? 1 : 0)
})

/** A payment of Alice to herself, with metadata on both sides. */
async function paidWithMetadata(onHold: (row: unknown) => void) {
  const handle = await openSqlite(':memory:')
  const books = testLedger()
  const wallet = await testWallet({
    storage: sqliteStorage(handle),
    ledger: {
      ...books,
      hold: async (hold) => {
        const sql = readOrder.replace('0123456789abcdef0123456789abcdef', hold.id).replace(';', '')
        onHold(handle.prepare(sql).all()[0])
        return books.hold(hold)
      },
    },
  })
  const metadata = { note: 'for my dentist' }
  const { payment, token: receiving } = await incomingPayment(wallet, {
    walletAddress: ALICE,
    incomingAmount: usd('7'),
    metadata,
  })
  const token = await spendingToken(wallet)
  const json = { walletAddress: ALICE, incomingPayment: payment.id, debitAmount: usd('7'), metadata }
  const { body } = await wallet.send('POST', `${BASE}/outgoing-payments`, { token, json })
  await wallet.openPayments.drain()
  const read = async () => [
    (await wallet.send('GET', body.id, { token })).body,
    (await wallet.send('GET', payment.id, { token: receiving })).body,
  ]
  const audit = async () => {
    const payments: AuditedPayment[] = []
    for await (const audited of wallet.openPayments.audit(ALICE)) payments.push(audited)
    return payments[0]
  }
  return { handle, wallet, read, audit, receiver: payment.id }
}

it('the page on controls reads the order of a hold, whose client the ledger is not told', async () => {
  const seen: unknown[] = []
  const { receiver } = await paidWithMetadata((row) => seen.push(row))
  const metadata = JSON.stringify({ note: 'for my dentist' })
  expect(seen).toMatchObject([{ client: CLIENT, wallet_address: ALICE, receiver, metadata }])
})

it('the page on controls overwrites what clients wrote into payments that are over, and breaks nothing', async () => {
  const { handle, wallet, read, audit } = await paidWithMetadata(() => undefined)
  wallet.clock.advance(3000)
  const [before, audited] = [await read(), await audit()]
  expect(JSON.stringify([before, audited])).toContain('dentist')
  handle.exec(erase)
  expect(await read()).toEqual(before.map((body) => ({ ...body, metadata: undefined })))
  const { signedRequest, ...rest } = (await audit()) ?? {}
  expect({ ...rest, signedRequest: audited?.signedRequest }).toEqual(audited)
  expect(signedRequest).toMatchObject({ method: '', targetUri: '', body: '' })
  const tables = handle.prepare(`SELECT name FROM sqlite_master WHERE type = 'table'`).all() as { name: string }[]
  for (const { name } of tables)
    for (const row of handle.prepare(`SELECT * FROM ${name}`).all())
      expect(Object.values(row as object).join()).not.toContain('dentist')

  handle.exec('DELETE FROM op_signed_request')
  await expect(audit()).rejects.toThrow('the proof of a payment has vanished')
})
