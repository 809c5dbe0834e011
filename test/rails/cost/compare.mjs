// What a payment costs with this library's sender and with @interledger/pay, in one run: packets, CPU and time.
//
//   npm run build && node test/rails/cost/compare.mjs [payments]
//
// One process receives over HTTP, with this library's receiver, for both; each sender has a process of its own, and they
// take turns. A payment is a quote and its delivery. Nothing is written to a storage on either side.
import { fork } from 'node:child_process'
import { randomBytes } from 'node:crypto'
import { once } from 'node:events'
import { createServer } from 'node:http'
import { fileURLToPath } from 'node:url'
import { pay, setupPayment, startQuote } from '@interledger/pay'
import { systemClock, webCryptography } from 'open-payments-server'
import { ilp } from 'open-payments-server/ilp'

const USD = { assetCode: 'USD', assetScale: 2 }
const EUR = { assetCode: 'EUR', assetScale: 2 }
const ID = '0123456789abcdef0123456789abcdef'
/** As long as those of a server are, which are sealed. */
const ADDRESS = 'sealed-address-of-the-incoming-payment'
const TOKEN = 'token-of-the-sender'
const OTHER_TOKEN = 'token-of-the-receiver'
const AMOUNT = 1000n
const ROUNDS = 5

/** What is paid: 10.00, in one packet or in many, in the receiver's asset or in another. */
const CASES = [
  { name: 'one packet', asset: USD },
  { name: 'packets of 50', asset: USD, maxPacketAmount: 50n },
  { name: 'exchanged at 0.92', asset: EUR },
]

const clock = systemClock()
const cryptography = webCryptography()
const own = { clock, cryptography, emit: () => undefined, balance: async () => ({ sent: 0n, received: 0n }) }
const cpuMicroseconds = () => {
  const { user, system } = process.cpuUsage()
  return user + system
}

/** The receiver's end of one case. */
function railFor(address, { asset, maxPacketAmount }, peer) {
  const terms = {
    outgoingToken: OTHER_TOKEN,
    incomingTokens: [TOKEN],
    asset,
    ...(maxPacketAmount && { maxPacketAmount }),
  }
  return ilp({ address, peers: [{ ...terms, ...peer }] })
}

async function receive(secret) {
  const rails = CASES.map((one) => {
    const rail = railFor('test.wallet', one, { address: 'test.sender', url: 'http://127.0.0.1/ilp' })
    const payment = {
      id: ID,
      address: ADDRESS,
      walletAddress: 'https://wallet.example/bob',
      sharedSecret: secret,
      asset: USD,
    }
    rail.connect({
      ...own,
      findPayable: async (address) => (address === ADDRESS ? payment : undefined),
      exchange: async ({ value }, to) => ({ ...to, value: (value * 92n) / 100n }),
      receive: async ({ isRefused }) => (isRefused ? 'refused' : 'received'),
    })
    return rail
  })
  const server = createServer((message, response) => {
    const parts = []
    message.on('data', (part) => parts.push(part))
    message.on('end', async () => {
      const answer = await rails[Number(message.url.slice(1))].endpoint.handle({
        method: message.method,
        target: '/ilp',
        headerLines: (name) => message.headersDistinct[name] ?? [],
        bytes: async () => new Uint8Array(Buffer.concat(parts)),
      })
      response.writeHead(answer.status, answer.headers).end(answer.body)
    })
  })
  server.listen(0, '127.0.0.1')
  await once(server, 'listening')
  return server.address().port
}

/** What one payment of a case takes, with this library. */
function ourSender(url, secret, one, count) {
  const send = async ({ bytes, signal }) => {
    const response = await post(url, bytes, count, signal)
    return { status: response.status, bytes: new Uint8Array(await response.arrayBuffer()) }
  }
  // As a peer is configured that says nothing of its packets: their size is found out, on both sides of the comparison.
  const { asset } = one
  const tokens = { outgoingToken: TOKEN, incomingTokens: [OTHER_TOKEN] }
  const peer = { address: 'test.wallet', url, ...tokens, asset, isDefault: true }
  const rail = ilp({ address: 'test.sender', send, peers: [peer] })
  rail.connect(own)
  const details = { type: 'ilp', ilpAddress: `test.wallet.${ADDRESS}`, sharedSecret: secret }
  return async () => {
    const quote = await rail.quote({ details, from: asset, to: USD, amount: { ...asset, value: AMOUNT } })
    if (!quote.ok) throw new Error(quote.reason)
    const { account, rate } = quote
    const receiveAmount = { ...USD, value: (AMOUNT * rate.received) / rate.sent }
    const delivery = { id: randomBytes(16).toString('hex'), details, account, sendAmount: { ...asset, value: AMOUNT } }
    const start = { sent: 0n, received: 0n, inFlight: { sent: 0n, received: 0n }, notes: '' }
    const order = { ...delivery, receiveAmount, isFixedReceive: false, isOver: false }
    const result = await rail.deliver(order, start, async () => 'recorded')
    if (result.outcome !== 'delivered') throw new Error(JSON.stringify(result, (_, value) => `${value}`))
  }
}

/** The same, with @interledger/pay. */
function theirSender(url, secret, { asset }, count) {
  const plugin = {
    sendData: async (bytes) => Buffer.from(await (await post(url, bytes, count)).arrayBuffer()),
  }
  return async () => {
    const destination = await setupPayment({
      plugin,
      destinationAddress: `test.wallet.${ADDRESS}`,
      sharedSecret: Buffer.from(secret, 'base64url'),
      destinationAsset: { code: 'USD', scale: 2 },
    })
    const sourceAsset = { code: asset.assetCode, scale: asset.assetScale }
    const terms = { plugin, destination, sourceAsset, amountToSend: AMOUNT, prices: { EUR: 0.92, USD: 1 } }
    const quote = await startQuote(terms)
    const { error, amountSent } = await pay({ plugin, destination, quote })
    if (error !== undefined || amountSent !== AMOUNT) throw new Error(error ?? 'not all was sent')
  }
}

function post(url, bytes, count, signal) {
  count.packets += 1
  const headers = { authorization: `Bearer ${TOKEN}`, 'content-type': 'application/octet-stream' }
  return fetch(url, { method: 'POST', headers, body: bytes, ...(signal && { signal }) })
}

async function work(role) {
  if (role === 'receiver') {
    const secret = randomBytes(32).toString('base64url')
    process.send({ port: await receive(secret), secret })
    process.on('message', () => process.send({ cpu: cpuMicroseconds() }))
    return
  }
  const makeSender = role === 'ours' ? ourSender : theirSender
  const senders = new Map()
  process.on('message', async ({ index, port, secret, payments }) => {
    const count = senders.get(index)?.count ?? { packets: 0 }
    const known = senders.get(index)?.payOnce
    const payOnce = known ?? makeSender(`http://127.0.0.1:${port}/${index}`, secret, CASES[index], count)
    senders.set(index, { count, payOnce })
    const [packets, cpu, at] = [count.packets, cpuMicroseconds(), performance.now()]
    for (let number = 0; number < payments; number++) await payOnce()
    process.send({ packets: count.packets - packets, cpu: cpuMicroseconds() - cpu, time: performance.now() - at })
  })
  process.send({})
}

/** A process in a role; `ask` sends it a message and resolves with its answer. */
async function start(role) {
  const child = fork(fileURLToPath(import.meta.url), { env: { ...process.env, ROLE: role } })
  const [hello] = await once(child, 'message')
  const ask = async (message) => {
    child.send(message)
    const [answer] = await once(child, 'message')
    return answer
  }
  return { hello, ask, end: () => child.kill() }
}

async function compare(payments) {
  const children = []
  try {
    for (const role of ['receiver', 'ours', 'theirs']) children.push(await start(role))
    const [receiver, ours, theirs] = children
    const named = { ours: 'this library', theirs: '@interledger/pay' }
    const rows = []
    for (const [index, { name }] of CASES.entries()) {
      const sums = { ours: [0, 0, 0, 0], theirs: [0, 0, 0, 0] }
      for (let round = -1; round < ROUNDS; round++) {
        for (const [role, child] of Object.entries({ ours, theirs })) {
          const before = await receiver.ask({})
          const { packets, cpu, time } = await child.ask({ index, ...receiver.hello, payments })
          const after = await receiver.ask({})
          // The first round is for warming up.
          if (round < 0) continue
          const measured = [packets, cpu / 1000, (after.cpu - before.cpu) / 1000, time]
          sums[role] = sums[role].map((sum, at) => sum + measured[at] / (payments * ROUNDS))
        }
      }
      for (const [role, values] of Object.entries(sums)) rows.push([name, named[role], ...values.map(round2)])
    }
    const heads = [
      'payment of 10.00',
      'sender',
      'packets',
      'CPU of the sender, ms',
      'CPU of the receiver, ms',
      'time, ms',
    ]
    console.log(`| ${heads.join(' | ')} |\n|${'---|'.repeat(heads.length)}`)
    for (const row of rows) console.log(`| ${row.join(' | ')} |`)
  } finally {
    for (const child of children) child.end()
  }
}

const round2 = (value) => Math.round(value * 100) / 100

const { ROLE } = process.env
await (ROLE === undefined ? compare(Number(process.argv[2] ?? 20)) : work(ROLE))
