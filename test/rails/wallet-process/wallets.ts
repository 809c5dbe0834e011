import type { Asset, JsonWebKey, Pricing, WalletAddress } from 'open-payments-server'

/** The two wallets that pay each other. */
export const WALLETS = ['north', 'south'] as const

/** One of them. */
export type WalletName = (typeof WALLETS)[number]

/** Something of each wallet. */
export type OfEach<T> = Readonly<Record<WalletName, T>>

export const USD = { assetCode: 'USD', assetScale: 2 } as const
export const EUR = { assetCode: 'EUR', assetScale: 4 } as const

/** The assets of either wallet, and those that a rail between them may have. */
export const ASSETS = [USD, EUR] as const

/** One of them. */
export type AssetCode = (typeof ASSETS)[number]['assetCode']

/** The accounts of either wallet, and what is on them at first. Erin's is closed at times. */
export const ACCOUNTS = [
  { account: 'alice', ...USD, balance: 1_000_000_000n },
  { account: 'carol', ...EUR, balance: 1_000_000_000n },
  { account: 'erin', ...USD, balance: 0n },
] as const

/** The name of an account, and of its wallet address. */
export type AccountName = (typeof ACCOUNTS)[number]['account']

/** The lease of a worker on a payment: the shortest that a rail admits. */
export const LEASE_SECONDS = 15

/** The other wallet. */
export function otherOf(wallet: WalletName): WalletName {
  return wallet === 'north' ? 'south' : 'north'
}

/** The address of a wallet in Interledger. */
export function ilpAddressOf(wallet: WalletName): string {
  return `test.${wallet}`
}

/** What a wallet shows the other one when it brings a packet for an account of their rail. */
export function peerTokenOf(wallet: WalletName, assetCode: AssetCode): string {
  return `the-wallet-in-the-${wallet}-brings-packets-in-${assetCode}`
}

/** The secret of a wallet. */
export function secretOf(wallet: WalletName): string {
  return `the secret of the wallet in the ${wallet} whose processes are killed`
}

/** The asset of an account. */
export function assetOf(account: AccountName): (typeof ASSETS)[number] {
  return account === 'carol' ? EUR : USD
}

/** An amount in the asset of an account, as it stands in a request. */
export function amountOf(
  account: AccountName,
  value: number,
): { readonly value: string; readonly assetCode: string; readonly assetScale: number } {
  return { value: String(value), ...assetOf(account) }
}

/** A wallet's directory: its accounts, and its clients with their keys. */
export function directoryOf(
  base: string,
  clients: Readonly<Record<string, JsonWebKey>>,
): ReadonlyMap<string, WalletAddress> {
  return new Map<string, WalletAddress>([
    ...ACCOUNTS.map(({ account, assetCode, assetScale }): [string, WalletAddress] => [
      `${base}/${account}`,
      { account, assetCode, assetScale },
    ]),
    ...Object.entries(clients).map(([name, key]): [string, WalletAddress] => [
      `${base}/${name}`,
      { account: 'erin', ...USD, keys: [key] },
    ]),
  ])
}

/** Dollars in euros and the other way round, at rates that round; as fractions, because checks count with them. */
export const RATES = { USD: '0.9137', EUR: '1.0871' } as const

/** One in a hundred and one unit more; an exchange at the rates above. */
export const FEE = { basisPoints: 100, fixed: 1n } as const

/** The prices of either wallet. */
export const PRICING: Pricing = {
  price: async ({ from, to }) => {
    if (from.assetCode === to.assetCode) return { rate: '1', fee: FEE }
    return { rate: from.assetCode === 'USD' ? RATES.USD : RATES.EUR, fee: FEE }
  },
}

/** What may be owed to the other wallet, and by it: of what comes four fifths of what may be sent are taken. */
export function limitsIn(
  { assetScale }: Asset,
  units: number,
): { readonly sending: bigint; readonly receiving: bigint } {
  const sending = BigInt(units) * 10n ** BigInt(assetScale)
  return { sending, receiving: (sending * 4n) / 5n }
}
