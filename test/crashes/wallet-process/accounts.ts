import type { JsonWebKey, Pricing, WalletAddress } from 'open-payments-server'

/** The published URL of the wallet, whichever process a request reaches. */
export const BASE = 'https://wallet.example'
export const AUTH = `${BASE}/auth`
export const SECRET = 'the secret of a wallet whose processes are killed'

/** The lease of a worker on a payment. */
export const LEASE_SECONDS = 50

const USD = { assetCode: 'USD', assetScale: 2 } as const
const EUR = { assetCode: 'EUR', assetScale: 4 } as const

/** The accounts of the wallet and what is on them at first. Dave never has enough; Erin's account is closed at times. */
export const ACCOUNTS = [
  { account: 'alice', ...USD, balance: 100_000_000n },
  { account: 'bob', ...USD, balance: 100_000_000n },
  { account: 'carol', ...EUR, balance: 100_000_000n },
  { account: 'dave', ...USD, balance: 50n },
  { account: 'erin', ...USD, balance: 0n },
] as const

/** The name of an account, and of its wallet address. */
export type AccountName = (typeof ACCOUNTS)[number]['account']

/** The assets of the wallet. */
export const ASSETS = [USD, EUR] as const

/** The wallet address of an account or of a client. */
export function walletAddressOf(name: string): string {
  return `${BASE}/${name}`
}

/** An amount in the asset of an account, as it stands in a request. */
export function amountOf(
  account: AccountName,
  value: number,
): { readonly value: string; readonly assetCode: string; readonly assetScale: number } {
  const { assetCode, assetScale } = account === 'carol' ? EUR : USD
  return { value: String(value), assetCode, assetScale }
}

/** The wallet's directory: its accounts, and its clients with their keys. */
export function directoryOf(clients: Readonly<Record<string, JsonWebKey>>): ReadonlyMap<string, WalletAddress> {
  return new Map<string, WalletAddress>([
    ...ACCOUNTS.map(({ account, assetCode, assetScale }): [string, WalletAddress] => [
      walletAddressOf(account),
      { account, assetCode, assetScale },
    ]),
    ...Object.entries(clients).map(([name, key]): [string, WalletAddress] => [
      walletAddressOf(name),
      { account: 'bob', ...USD, keys: [key] },
    ]),
  ])
}

/** A fee of one in a hundred and one cent more; an exchange at a rate that rounds. */
export const PRICING: Pricing = {
  price: async ({ from, to }) => {
    const fee = { basisPoints: 100, fixed: 1n }
    if (from.assetCode === to.assetCode) return { rate: '1', fee }
    return { rate: from.assetCode === 'USD' ? '0.9137' : '1.0871', fee }
  },
}
