import { describe, expect, it } from 'vitest'
import { clientWalletAddress, directedIdentity } from '../../src/protocol/client.ts'

describe('client identities', () => {
  it('KEY-8 KEY-9 a directed identity is its thumbprint and never a wallet address', () => {
    const client = directedIdentity('kPrK_qmxVWaYVA9wwBF6Iuo3vVzz7TxHCTwXBygrS4k')
    expect(client).toBe('jwk:kPrK_qmxVWaYVA9wwBF6Iuo3vVzz7TxHCTwXBygrS4k')
    expect(clientWalletAddress(client)).toBeUndefined()
  })

  it('KEY-8 any other identity is a wallet address', () => {
    expect(clientWalletAddress('https://client.example/pay')).toBe('https://client.example/pay')
  })
})
