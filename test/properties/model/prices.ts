import type { Pricing } from 'open-payments-server'
import { type Asset, isSameAsset } from './state.ts'

/** The prices of the wallet: half a percent and one cent from dollars, nine euros for ten dollars, and no way back. */
export const PRICING: Pricing = {
  price: async ({ from, to }) => {
    if (from.assetCode === 'EUR') return to.assetCode === 'EUR' ? { rate: '1' } : undefined
    return { rate: to.assetCode === 'EUR' ? '0.9' : '1', fee: { basisPoints: 50, fixed: 1n } }
  },
}

export interface Price {
  readonly debit: bigint
  readonly receive: bigint
  readonly fee: bigint
}

/** What arrives of a debit: cents of dollars become hundredths of a cent of euros. */
export function sendExactly(from: Asset, to: Asset, debit: bigint): Price {
  if (isSameAsset(from, to) && from.assetCode === 'EUR') return { debit, receive: debit, fee: 0n }
  const proportional = debit * 50n
  const fee = proportional / 10_000n + (proportional % 10_000n === 0n ? 0n : 1n) + 1n
  if (fee > debit) return { debit, receive: 0n, fee }
  const sent = debit - fee
  return { debit, receive: isSameAsset(from, to) ? sent : (sent * 9n * 100n) / 10n, fee }
}

/** The smallest debit of which so much arrives: more never arrives of less. */
export function receiveExactly(from: Asset, to: Asset, receive: bigint): Price {
  let low = 0n
  let high = 2n * receive + 1000n
  while (low < high) {
    const middle = (low + high) / 2n
    if (sendExactly(from, to, middle).receive >= receive) high = middle
    else low = middle + 1n
  }
  return { ...sendExactly(from, to, low), receive }
}

export const isExchanged = (from: Asset, to: Asset): boolean => from.assetCode === 'USD' || isSameAsset(from, to)
