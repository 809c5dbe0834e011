import { once } from 'node:events'
import { createServer } from 'node:http'
import { keepGoing } from 'open-payments-server'
import { postgresStorage } from 'open-payments-server/storage/postgres'
import { Pool, type PoolConfig } from 'pg'
import { postgresLedger } from '../postgres-ledger.ts'
import { createPeople } from './people.ts'
import { createWallet } from './wallet.ts'

const { DATABASE_URL, PORT = '3000', WALLET_URL = `http://localhost:${PORT}`, SECRETS = '' } = process.env

// One database for people, money and Open Payments, so that one backup has all of it, as of one moment.
const openPool = (more: PoolConfig = {}): Pool =>
  new Pool({
    connectionString: DATABASE_URL,
    connectionTimeoutMillis: 2_000,
    statement_timeout: 5_000,
    idle_in_transaction_session_timeout: 5_000, // a process that freezes loses its locks
    query_timeout: 10_000, // a connection that has died silently is given up
    ...more,
  }).on('error', (error) => console.error(error)) // an idle connection was lost; without a listener this would end the process
const pool = openPool()
// Separate: calls that wait for a locked account take no connection from reads, and soon give theirs to other accounts.
const ledgerPool = openPool({ lock_timeout: 300 })
const people = createPeople(pool)
const storage = await postgresStorage(pool)
const { openPayments, listener } = createWallet({
  url: WALLET_URL,
  secrets: SECRETS.split(' '), // the first makes new values; the others keep earlier ones valid
  people,
  storage,
  ledger: postgresLedger(ledgerPool),
})

const stop = keepGoing({
  recover: openPayments.recover,
  sweep: async () => (await openPayments.sweep()) + (await people.sweep()),
})
const server = createServer(listener).listen(Number(PORT), () => console.log(`The wallet is at ${WALLET_URL}`))

// In this order: end the requests and the timers, then what goes on after answers, then the connections to the database.
await Promise.race([once(process, 'SIGTERM'), once(process, 'SIGINT')])
const closed = once(server, 'close')
// A proxy keeps its connections open: each is closed after its next answer.
server.prependListener('request', (_request, response) => {
  response.shouldKeepAlive = false
})
server.close()
setTimeout(() => server.closeAllConnections(), 10_000).unref()
await Promise.all([closed, stop()])
await openPayments.drain()
await Promise.all([pool.end(), ledgerPool.end()])
