import { createPrivateKey, createPublicKey, generateKeyPairSync, randomBytes, randomUUID } from 'node:crypto'
import type { JsonWebKey, Pricing, WalletAddress } from 'open-payments-server'
import {
  type AccountConfiguration,
  type Configuration,
  DEFAULT_ACCOUNTS,
  defaultRates,
  readConfiguration,
} from './configuration.ts'
import type { Database, Notes } from './database.ts'

/** The client that comes with the sandbox: it has a wallet address of its own, whose key set holds its public key. */
export interface SandboxClient {
  readonly path: string
  readonly keyId: string
  readonly privateKeyPem: string
}

/** The wallet behind the server: its accounts and their paths, its client, its secret and its prices. */
export interface Wallet {
  readonly accounts: readonly AccountConfiguration[]
  readonly client: SandboxClient
  /** The server's secret. */
  readonly secret: string
  readonly pricing: Pricing
  /** The account at a path of this server, the client's included. */
  find(path: string): WalletAddress | undefined
}

const CLIENT_PATH = '/client'

/** Reads a note; the first time, makes and writes it. */
function keepNote(notes: Notes, name: string, create: () => string): string {
  const known = notes.read(name)
  if (known !== undefined) return known
  const text = create()
  notes.write(name, text)
  return text
}

function generatePrivateKey(): string {
  return generateKeyPairSync('ed25519').privateKey.export({ type: 'pkcs8', format: 'pem' }).toString()
}

function publicKey({ keyId, privateKeyPem }: SandboxClient): JsonWebKey {
  const { x = '' } = createPublicKey(createPrivateKey(privateKeyPem)).export({ format: 'jwk' })
  return { kid: keyId, alg: 'EdDSA', kty: 'OKP', crv: 'Ed25519', x }
}

/** The accounts that the database knows, with what the configuration adds or changes. */
function keepAccounts(notes: Notes, configured: Configuration['accounts']): readonly AccountConfiguration[] {
  const text = notes.read('accounts')
  const kept = text === undefined ? undefined : readConfiguration(`{"accounts":${text}}`)
  if (kept?.ok === false) throw new Error(`the accounts in the database cannot be read: ${kept.message}`)
  const known = kept?.configuration.accounts
  const given = configured ?? (known === undefined ? DEFAULT_ACCOUNTS : [])
  const others = (known ?? []).filter(({ path }) => !given.some((account) => account.path === path))
  const accounts = [...others, ...given]
  return accounts
}

function pricingOf(accounts: readonly AccountConfiguration[], { rates, fee }: Configuration): Pricing {
  const known = rates ?? defaultRates(accounts.map(({ assetCode }) => assetCode))
  return {
    async price({ from, to }) {
      const found = known.find((rate) => rate.from === from.assetCode && rate.to === to.assetCode)
      const rate = found?.rate ?? (from.assetCode === to.assetCode ? '1' : undefined)
      if (rate === undefined) return undefined
      return fee ? { rate, fee: { basisPoints: fee.basisPoints ?? 0, fixed: BigInt(fee.fixed ?? 0) } } : { rate }
    },
  }
}

/** Opens the wallet in a database: an account that exists already keeps its balance. */
export async function openWallet({ ledger, notes }: Database, configuration: Configuration): Promise<Wallet> {
  const client: SandboxClient = {
    path: CLIENT_PATH,
    keyId: keepNote(notes, 'client key id', randomUUID),
    privateKeyPem: keepNote(notes, 'client private key', generatePrivateKey),
  }
  const accounts = keepAccounts(notes, configuration.accounts)
  const clientAccount: AccountConfiguration = {
    path: CLIENT_PATH,
    name: 'Sandbox client',
    assetCode: 'USD',
    assetScale: 2,
    balance: '0',
    jwks: { keys: [publicKey(client)] },
  }
  for (const { path, assetCode, assetScale, balance } of [...accounts, clientAccount]) {
    await ledger.createAccount({ account: path, assetCode, assetScale, balance: BigInt(balance) })
  }
  // Only now: accounts that the ledger refuses must not be read again at the next start.
  notes.write('accounts', JSON.stringify(accounts))
  const directory = new Map([...accounts, clientAccount].map((account) => [account.path, account]))
  return {
    accounts,
    client,
    secret: keepNote(notes, 'secret', () => randomBytes(32).toString('base64url')),
    pricing: pricingOf(accounts, configuration),
    find(path) {
      const account = directory.get(path)
      if (account === undefined) return undefined
      const { assetCode, assetScale, name, jwks } = account
      return {
        account: path,
        assetCode,
        assetScale,
        ...(name !== undefined && { publicName: name }),
        ...(jwks && { keys: jwks.keys }),
      }
    },
  }
}
