import { askAnew, type Lane, repeatKeyed, replayCaptured } from './ask.ts'
import { checkLedgerAtRest } from './check-ledger.ts'
import { checkRecordsAtRest } from './check-records.ts'
import { type GrantedClient, LIMITED } from './grants.ts'
import { exhaustBudget } from './orders.ts'
import { BASE } from './wallet-process/accounts.ts'
import type { World } from './world.ts'

/** Brings everything to its end, asks for everything again, spends what is left, and looks at all of it. */
export async function settle(world: World, lanes: readonly Lane[]): Promise<readonly string[]> {
  const { books, notebook, toldFile } = world
  const stuck = await recoverToRest(world)
  const [lane] = lanes
  if (lane === undefined) throw new Error('there is no client')
  await Promise.all([
    inTurn(notebook.keyed, (keyed) => repeatKeyed(lane, keyed)),
    inTurn(notebook.captured, (bytes) => replayCaptured(lane, bytes)),
    repeatTransfers(world, lane),
  ])
  await reuseKeys(world, lane)
  const spent = await exhaustBudgets(world, lanes)
  return [
    ...stuck,
    ...spent,
    ...(await recoverToRest(world)),
    ...(await readOrders(world, lane)),
    ...(await checkLedgerAtRest(books)),
    ...(await checkRecordsAtRest(books, notebook, toldFile)),
  ]
}

async function inTurn<T>(list: readonly T[], each: (item: T) => Promise<void>): Promise<void> {
  for (const item of list) await each(item)
}

const MOST_ROUNDS = 12

/** Recovers in all processes at once until nothing is due any more, however late. */
export async function recoverToRest(world: World): Promise<readonly string[]> {
  const { storage } = world.books
  for (let round = 0; round < MOST_ROUNDS; round++) {
    const due = await Promise.all([
      storage.due('outgoing-payment', Number.MAX_SAFE_INTEGER, 100),
      storage.due('event', Number.MAX_SAFE_INTEGER, 100),
    ])
    const latest = Math.max(0, ...due.flat().map(({ dueAt = 0 }) => dueAt))
    if (latest === 0) return []
    world.advance(Math.max(0, latest - world.now()) + 1)
    await Promise.all(world.servers().map((server) => server.recover()))
  }
  return ['recover() never came to an end']
}

/** A transfer counts once: again it is answered the same, and with another amount it is refused. */
async function repeatTransfers({ notebook, send }: World, { random }: Lane): Promise<void> {
  // A payment that took no more since may refuse in other words.
  const accepted = notebook.transfers.filter(({ answer }) => answer.body['ok'] === true)
  for (const { transferId, request, answer } of accepted) {
    const again = await send(request, random)
    const report = JSON.parse(new TextDecoder().decode(request.body))
    const more = { ...report.amount, value: String(Number(report.amount.value) + 1) }
    const body = new TextEncoder().encode(JSON.stringify({ ...report, amount: more }))
    const other = await send({ ...request, body }, random)
    if (JSON.stringify(again) === JSON.stringify(answer) && other?.body['reason'] === 'conflict') continue
    notebook.violations.push(`the transfer ${transferId} was answered ${JSON.stringify([answer, again, other])}`)
  }
}

/** What is left of a budget is still there, and not a cent more: the whole of it can be spent. */
async function exhaustBudgets({ clients }: World, lanes: readonly Lane[]): Promise<readonly string[]> {
  const found: string[] = []
  const exhaust = async (client: GrantedClient): Promise<void> => {
    const lane = lanes.find((one) => one.client === client)
    if (lane === undefined) return
    const refusal = await exhaustBudget(lane)
    const url = `${BASE}/outgoing-payment-grant`
    const spent = await askAnew(lane, { method: 'GET', url, token: client.tokens.limited })
    const total = spent.body.spentDebitAmount?.value
    if (refusal.body.error?.code !== 'grant_limit_exceeded') found.push(`refused with ${JSON.stringify(refusal)}`)
    if (total !== String(LIMITED.debit * LIMITED.payments))
      found.push(`of its budget ${client.name} has spent ${total}`)
  }
  await Promise.all(clients.map(exhaust))
  return found
}

/** A key of an order does not serve for another one. */
async function reuseKeys({ notebook }: World, lane: Lane): Promise<void> {
  const { keyed, violations } = notebook
  for (const { request, signer } of keyed.filter((_, index) => index % 10 === 0)) {
    const json = { ...Object(request.json), metadata: { other: true } }
    const answer = await askAnew(lane, { ...request, json }, signer)
    // A quote has no metadata: there the other body is none at all.
    const expected = request.url.endsWith('/quotes') ? 400 : 409
    if (answer.status !== expected) violations.push(`another body under ${request.key}: ${JSON.stringify(answer)}`)
  }
}

/** Every payment that a client was told of is there for it, at its end. */
async function readOrders({ notebook }: World, lane: Lane): Promise<readonly string[]> {
  const found: string[] = []
  for (const { url, token, signer } of notebook.orders) {
    if (url === undefined) continue
    const { status, body } = await askAnew(lane, { method: 'GET', url, token }, signer)
    const isWhole = body.sentAmount?.value === body.debitAmount?.value
    if (status !== 200 || body.failed === isWhole) found.push(`${url} reads ${status} ${JSON.stringify(body)}`)
  }
  return found
}
