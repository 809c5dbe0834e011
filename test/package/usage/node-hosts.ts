import { generateKeyPairSync } from 'node:crypto'
import { createServer, type Server } from 'node:http'
import { createServer as createSecureServer } from 'node:https'
import express, { type Express, type Request } from 'express'
import type { OpenPayments, Storage, WalletAddress } from 'open-payments-server'
import { openPaymentsMiddleware } from 'open-payments-server/express'
import { sqliteLedger } from 'open-payments-server/ledger/sqlite'
import { toNodeListener } from 'open-payments-server/node'
import { postgresStorage } from 'open-payments-server/storage/postgres'
import { openSqlite, sqliteStorage } from 'open-payments-server/storage/sqlite'
import { Pool } from 'pg'
import postgres from 'postgres'

/** Servers of Node. */
export function listens(openPayments: OpenPayments): readonly Server[] {
  return [
    createServer(toNodeListener(openPayments)),
    createSecureServer(toNodeListener(openPayments, { next: (_, response) => void response.end() })),
    createServer(toNodeListener(openPayments, { source: ({ socket }) => socket.remoteAddress })),
    // @ts-expect-error a listener, not a server
    toNodeListener(openPayments),
  ]
}

/** An application of Express, at its root and under a prefix. */
export function mounts(openPayments: OpenPayments): Express {
  const app = express()
  app.use(openPaymentsMiddleware(openPayments))
  app.use('/payments', openPaymentsMiddleware(openPayments, { source: ({ ip }) => ip }))
  const source = (request: Request): string | undefined => request.ip
  app.use(openPaymentsMiddleware(openPayments, { source }))
  app.use(express.json({ verify: (req, _res, bytes) => Object.assign(req, { rawBody: bytes }) }))
  // @ts-expect-error a source is a function of the request
  app.use(openPaymentsMiddleware(openPayments, { source: 'ip' }))
  return app
}

/** A key as Node writes it. */
export function publishes(): WalletAddress {
  const { publicKey } = generateKeyPairSync('ed25519')
  const key = { kid: 'key-1', alg: 'EdDSA', ...publicKey.export({ format: 'jwk' }) }
  return { account: 'alice', assetCode: 'EUR', assetScale: 2, keys: [key] }
}

/** The connections that a host has open. */
export async function stores(): Promise<readonly Storage[]> {
  const handle = await openSqlite(':memory:')
  sqliteLedger(handle, { busyTimeoutSeconds: 1 })
  // @ts-expect-error a pool, not where the database is
  await postgresStorage('postgres://localhost')
  return [
    sqliteStorage(handle),
    await postgresStorage(new Pool()),
    await postgresStorage(postgres(), { prepare: false }),
    // @ts-expect-error it is ready later
    postgresStorage(new Pool()),
  ]
}
