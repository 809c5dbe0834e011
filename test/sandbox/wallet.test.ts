import { createPrivateKey, createPublicKey } from 'node:crypto'
import { mkdtempSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { afterEach, beforeEach, describe, expect, it, vi } from 'vitest'
import type { Configuration } from '../../examples/sandbox/configuration.ts'
import { openDatabase } from '../../examples/sandbox/database.ts'
import { formatMoney } from '../../examples/sandbox/money.ts'
import { openWallet } from '../../examples/sandbox/wallet.ts'

let folder = ''
beforeEach(() => {
  folder = mkdtempSync(join(tmpdir(), 'sandbox-'))
})
afterEach(() => rmSync(folder, { recursive: true }))

/** Opens the wallet in the test's file, looks at it and closes it. */
async function visit(configuration: Configuration = {}) {
  const database = await openDatabase(join(folder, 'wallet.db'), () => {})
  try {
    const wallet = await openWallet(database, configuration)
    const balances = wallet.accounts.map(
      async ({ path }) => [path, (await database.ledger.balance(path))?.total] as const,
    )
    return { wallet, balances: Object.fromEntries(await Promise.all(balances)) }
  } finally {
    database.close()
  }
}

const DORA = { path: '/dora', name: 'Dora', assetCode: 'GBP', assetScale: 2, balance: '700' }

describe('a wallet in a file', () => {
  it('finds its secret, its client and its accounts again', async () => {
    const [first, second] = [await visit({ accounts: [DORA] }), await visit()]
    expect(second.wallet.secret).toBe(first.wallet.secret)
    expect(second.wallet.secret.length).toBeGreaterThanOrEqual(32)
    expect(second.wallet.client).toEqual(first.wallet.client)
    expect(second.wallet.accounts).toEqual([DORA])
  })

  it('gives an opening balance once', async () => {
    await visit({ accounts: [DORA] })
    expect((await visit({ accounts: [{ ...DORA, balance: '900' }] })).balances).toEqual({ '/dora': 700n })
  })

  it('adds accounts and changes names, and forgets no account', async () => {
    await visit({ accounts: [DORA] })
    const eli = { ...DORA, path: '/eli', name: 'Eli' }
    const { wallet } = await visit({ accounts: [eli, { ...DORA, name: 'Theodora' }] })
    expect(wallet.find('/dora')?.publicName).toBe('Theodora')
    expect((await visit({ accounts: [eli] })).wallet.find('/dora')).toBeDefined()
  })

  it('refuses to change the asset of an account', async () => {
    await visit({ accounts: [DORA] })
    await expect(visit({ accounts: [{ ...DORA, assetScale: 3 }] })).rejects.toThrow('/dora')
  })
})

describe('the directory', () => {
  it('publishes a name only where there is one', async () => {
    const { name: _, ...nameless } = DORA
    const { wallet } = await visit({ accounts: [nameless] })
    expect(wallet.find('/dora')).toEqual({ account: '/dora', assetCode: 'GBP', assetScale: 2 })
    expect(wallet.find('/nobody')).toBeUndefined()
  })

  it('WAS-10 publishes the public half of the key that its client signs with', async () => {
    const { wallet } = await visit()
    const { path, keyId, privateKeyPem } = wallet.client
    const { x } = createPublicKey(createPrivateKey(privateKeyPem)).export({ format: 'jwk' })
    expect(wallet.find(path)?.keys).toEqual([{ kid: keyId, alg: 'EdDSA', kty: 'OKP', crv: 'Ed25519', x }])
  })
})

describe('the prices', () => {
  const asset = (assetCode: string, assetScale = 2) => ({ assetCode, assetScale })
  const price = async (configuration: Configuration, from: string, to: string, scale = 2) => {
    const { wallet } = await visit(configuration)
    return wallet.pricing.price({ walletAddress: '', from: asset(from), to: asset(to, scale) })
  }

  it('are one to one within a code, whatever the scale', async () => {
    expect(await price({}, 'USD', 'USD', 9)).toEqual({ rate: '1' })
  })

  it('follow the configured rates, and those alone', async () => {
    const rates = [{ from: 'USD', to: 'EUR', rate: '0.5' }]
    expect(await price({ rates }, 'USD', 'EUR')).toEqual({ rate: '0.5' })
    expect(await price({ rates }, 'EUR', 'USD')).toBeUndefined()
  })

  it('carry the configured fee', async () => {
    expect(await price({ fee: { basisPoints: 25, fixed: '30' } }, 'USD', 'USD')).toEqual({
      rate: '1',
      fee: { basisPoints: 25, fixed: 30n },
    })
    expect(await price({ fee: { fixed: '30' } }, 'USD', 'USD')).toEqual({
      rate: '1',
      fee: { basisPoints: 0, fixed: 30n },
    })
  })
})

it.each([
  [1000n, 2, '10.00 USD'],
  [5n, 2, '0.05 USD'],
  [-5n, 3, '-0.005 USD'],
  [12n, 0, '12 USD'],
])('%d at scale %d reads %s', (value, assetScale, text) => {
  expect(formatMoney(value, { assetCode: 'USD', assetScale })).toBe(text)
})

describe('where there is no SQLite', () => {
  const noSqlite = (): Promise<never> => Promise.reject(new Error('no SQLite: npm install libsql'))

  it('a file that was asked for is refused with the reason, since nothing would be in it', async () => {
    const warn = vi.fn()
    await expect(openDatabase(join(folder, 'wallet.db'), warn, noSqlite)).rejects.toThrow('npm install libsql')
    expect(warn).not.toHaveBeenCalled()
  })

  it.each([
    ['no file that was asked for', undefined, 1],
    [':memory:', ':memory:', 0],
  ])('%s is memory, which is told where nobody asked for it', async (_, path, lines) => {
    const warn = vi.fn()
    expect((await openDatabase(path, warn, noSqlite)).isVolatile).toBe(true)
    expect(warn).toHaveBeenCalledTimes(lines)
  })
})
