import * as v from 'valibot'
import { describe, expect, it } from 'vitest'
import { clientWalletAddress, directedIdentity, IdentifiedRequest, plainName } from '../../src/protocol/client.ts'

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

describe('the client of a grant request', () => {
  it('KEY-5 is read before anything else of the request', () => {
    const walletAddress = 'https://client.example/pay'
    expect(v.parse(IdentifiedRequest, { client: walletAddress, access_token: 7 })).toEqual({
      client: { walletAddress },
    })
    expect(v.parse(IdentifiedRequest, { client: { walletAddress } })).toEqual({ client: { walletAddress } })
    expect(v.is(IdentifiedRequest, {})).toBe(false)
    expect(v.is(IdentifiedRequest, { client: {} })).toBe(false)
  })
})

describe('the name of a client', () => {
  it.each([
    ['Shop', 'Shop'],
    ['  Corner \t\n Shop ', 'Corner Shop'],
    ['Café ☕ 店', 'Café ☕ 店'],
    // A control character, turned writing, a half of a surrogate pair, private use, a line and a paragraph separator.
    ['a\u0000b', 'a b'],
    ['a\u0007\u001bb', 'a b'],
    ['a\u202e\u200bb', 'a b'],
    ['a\ud800b', 'a b'],
    ['a\ue000b', 'a b'],
    ['a\u2028b', 'a b'],
    ['a\u2029b', 'a b'],
    ['x'.repeat(101), 'x'.repeat(100)],
    [`${'x'.repeat(99)} yz`, 'x'.repeat(99)],
    ['😀'.repeat(101), '😀'.repeat(100)],
    // Marks without end draw a column over what stands below; no word has more than five on one letter.
    [`A${'\u0323'.repeat(99)} B\u0301`, `A${'\u0323'.repeat(5)} B\u0301`],
    [`${'e\u0302\u0301\u0323\u0330\u0331\u0332'.repeat(2)}`, 'e\u0302\u0301\u0323\u0330\u0331'.repeat(2)],
  ])('INT-11 %j is shown as %j', (text, shown) => expect(plainName(text)).toBe(shown))

  it.each([
    'ร้านค้าที่ดีที่สุด', // Thai
    'हिन्दी ज़ें', // Hindi
    'Tiếng Việt Phượng'.normalize('NFD'),
    'عَرَبِيّ اللّٰه', // Arabic with vowels
    'שָּׁלוֹם', // Hebrew with vowels
    'လျှို့ဝှက်ချက်', // Burmese
    'བསྒྲུབས', // Tibetan
    'ខ្ញុំស្រឡាញ់', // Khmer
  ])('INT-11 the letters of %j keep all their marks', (text) => expect(plainName(text)).toBe(text))

  it.each(['', '  ', '\u200b\u202e', '\u0000', '\u3164\uffa0', '\u2800\u034f\ufe0f'])('INT-11 %j is no name', (text) =>
    expect(plainName(text)).toBeUndefined(),
  )
})
