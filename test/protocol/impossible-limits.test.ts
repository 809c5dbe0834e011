import { describe, expect, it } from 'vitest'
import { type Access, coversWalletAddress, refuseLimits } from '../../src/protocol/access.ts'
import { parseGrantedAccess } from '../../src/protocol/granted-access.ts'
import type { WireLimits } from '../../src/protocol/limits.ts'

const account = { assetCode: 'USD', assetScale: 2 }
const identifier = 'https://wallet.example/alice'

function outgoing(limits?: WireLimits): Access {
  return { type: 'outgoing-payment', actions: ['create'], identifier, ...(limits && { limits }) }
}

describe('limits that no payment could meet', () => {
  const wrongAsset = 'limits.debitAmount is not in the asset of the wallet address'
  const noWindow = 'limits.interval has no window'

  it.each<readonly [Access, string | undefined]>([
    [outgoing(), undefined],
    [outgoing({}), undefined],
    [{ type: 'quote', actions: ['create'] }, undefined],
    [{ type: 'incoming-payment', actions: ['create'], identifier }, undefined],
    [outgoing({ debitAmount: { value: '1', ...account } }), undefined],
    [outgoing({ debitAmount: { value: '1', ...account, assetCode: 'EUR' } }), wrongAsset],
    [outgoing({ debitAmount: { value: '1', ...account, assetScale: 3 } }), wrongAsset],
    [outgoing({ receiveAmount: { value: '1', ...account, assetCode: 'EUR' } }), undefined],
    [outgoing({ interval: 'R/2026-01-01/P1M' }), undefined],
    [outgoing({ interval: 'R1/2026-01-01/P1M' }), undefined],
    [outgoing({ interval: 'R0/2026-01-01/P1M' }), noWindow],
    [outgoing({ interval: 'monthly' }), noWindow],
  ])('GRT-10 IVL-6 in total: %#', (access, reason) => expect(refuseLimits(access, account, 'total')).toBe(reason))

  it('IVL-6 R0 has one window where Rn counts the additional ones', () => {
    expect(refuseLimits(outgoing({ interval: 'R0/2026-01-01/P1M' }), account, 'additional')).toBeUndefined()
  })
})

describe('the receiver of a granted entry', () => {
  it('GRT-13 may be the one that was asked for, and no other', () => {
    const limits = { receiver: 'https://wallet.example/incoming-payments/1' }
    const asked = [outgoing(limits)]
    expect(parseGrantedAccess(asked, asked)).toEqual(asked)
    expect(parseGrantedAccess(asked, [outgoing({ receiver: `${limits.receiver}0` })])).toBeUndefined()
    expect(parseGrantedAccess(asked, [outgoing()])).toBeUndefined()
  })
})

describe('the wallet address of an entry', () => {
  it('RS-4 RS-5 is the only one that it covers, and without one it covers all', () => {
    expect(coversWalletAddress(outgoing(), identifier)).toBe(true)
    expect(coversWalletAddress(outgoing(), `${identifier}/`)).toBe(false)
    expect(coversWalletAddress({ type: 'incoming-payment', actions: ['read'], identifier }, 'x')).toBe(false)
    expect(coversWalletAddress({ type: 'incoming-payment', actions: ['read'] }, 'x')).toBe(true)
    expect(coversWalletAddress({ type: 'quote', actions: ['read'] }, 'x')).toBe(true)
  })
})
