import { describe, expect, it } from 'vitest'
import { fakeNetwork, publishedKey, UNFETCHABLE } from './fake-network.ts'

const HOSTILE_URLS = [
  'http://wallet.example/alice',
  'https://wallet.example:8443/alice',
  'https://user@wallet.example/alice',
  'https://user:password@wallet.example/alice',
  'https://:password@wallet.example/alice',
  'https://wallet.example@127.0.0.1/alice',
  'https://wallet.example/alice?next=http://127.0.0.1',
  'https://wallet.example/alice#fragment',
  'https://localhost/alice',
  'https://localhost./alice',
  'https://LOCALHOST/alice',
  'https://metadata/alice',
  'https://wallet.example./alice',
  'https://127.0.0.1/alice',
  'https://127.1/alice',
  'https://127.0.0.1./alice',
  'https://2130706433/alice',
  'https://0x7f000001/alice',
  'https://0x7f.0.0.1/alice',
  'https://0177.0.0.1/alice',
  'https://017700000001/alice',
  'https://0/alice',
  'https://10.0.0.1/alice',
  'https://169.254.169.254/latest/meta-data',
  'https://93.184.216.34/alice',
  'https://①②⑦.0.0.1/alice',
  'https://127。0。0。1/alice',
  'https://[::1]/alice',
  'https://[::]/alice',
  'https://[::ffff:127.0.0.1]/alice',
  'https://[::ffff:7f00:1]/alice',
  'https://[::127.0.0.1]/alice',
  'https://[64:ff9b::7f00:1]/alice',
  'https://[fe80::1]/alice',
  'https://[fd00:ec2::254]/alice',
  'https://[2606:2800:220:1::1]/alice',
  'https://[::1%25eth0]/alice',
  'ftp://wallet.example/alice',
  'file:///etc/passwd',
  'gopher://wallet.example/alice',
  'data:application/json,{}',
  'javascript:alert(1)',
  'blob:https://wallet.example/alice',
  'ws://wallet.example/alice',
  '//wallet.example/alice',
  '/alice',
  '',
  'wallet.example/alice',
  'https://',
  'https:///',
  `https://wallet.example/${'a'.repeat(2048)}`,
  `https://${'a.'.repeat(127)}example/alice`,
]

/** Names are fine, what they resolve to is not. */
const HOSTILE_ADDRESSES = [
  '0.0.0.0',
  '0.1.2.3',
  '10.0.0.1',
  '10.255.255.255',
  '100.64.0.1',
  '100.100.100.200',
  '100.127.255.255',
  '127.0.0.1',
  '127.255.255.254',
  '168.63.129.16',
  '169.254.169.254',
  '172.16.0.1',
  '172.31.255.255',
  '192.0.0.8',
  '192.0.2.1',
  '192.88.99.1',
  '192.168.0.1',
  '198.18.0.1',
  '198.19.255.255',
  '198.51.100.7',
  '203.0.113.9',
  '224.0.0.1',
  '239.255.255.255',
  '240.0.0.1',
  '255.255.255.255',
  '::',
  '::1',
  '::7f00:1',
  '::ffff:127.0.0.1',
  '::ffff:93.184.216.34',
  '64:ff9b::5db8:d822',
  '64:ff9b:1::1',
  '100::1',
  '2001::1',
  '2001:2::1',
  '2001:10::1',
  '2001:db8::1',
  '2002:7f00:1::1',
  '3fff::1',
  '5f00::1',
  'fc00::1',
  'fd00:ec2::254',
  'fe80::1',
  'fe80::1%eth0',
  'fec0::1',
  'ff02::1',
  'not an address',
  '93.184.216',
  '093.184.216.34',
]

/** Blocks by their first and last address, and what is public right beside them. */
const HOSTILE_BLOCKS: readonly (readonly [first: string, last: string, ...beside: string[]])[] = [
  ['0.0.0.0', '0.255.255.255', '1.0.0.0'],
  ['10.0.0.0', '10.255.255.255', '9.255.255.255', '11.0.0.0'],
  ['100.64.0.0', '100.127.255.255', '100.63.255.255', '100.128.0.0'],
  ['127.0.0.0', '127.255.255.255', '126.255.255.255', '128.0.0.0'],
  ['168.63.129.16', '168.63.129.16', '168.63.129.15', '168.63.129.17'],
  ['169.254.0.0', '169.254.255.255', '169.253.255.255', '169.255.0.0'],
  ['172.16.0.0', '172.31.255.255', '172.15.255.255', '172.32.0.0'],
  ['192.0.0.0', '192.0.0.255', '191.255.255.255', '192.0.1.0'],
  ['192.0.2.0', '192.0.2.255', '192.0.1.255', '192.0.3.0'],
  ['192.88.99.0', '192.88.99.255', '192.88.98.255', '192.88.100.0'],
  ['192.168.0.0', '192.168.255.255', '192.167.255.255', '192.169.0.0'],
  ['198.18.0.0', '198.19.255.255', '198.17.255.255', '198.20.0.0'],
  ['198.51.100.0', '198.51.100.255', '198.51.99.255', '198.51.101.0'],
  ['203.0.113.0', '203.0.113.255', '203.0.112.255', '203.0.114.0'],
  ['224.0.0.0', '239.255.255.255', '223.255.255.255'],
  ['240.0.0.0', '255.255.255.255'],
  ['::', lastOf('1fff'), '2000::'],
  ['2001::', lastOf('2001:1ff'), lastOf('2000'), '2001:200::'],
  ['2001:db8::', lastOf('2001:db8'), lastOf('2001:db7'), '2001:db9::'],
  ['2002::', lastOf('2002'), lastOf('2001'), '2003::'],
  ['3fff::', lastOf('3fff:fff'), lastOf('3ffe'), '3fff:1000::'],
  ['4000::', lastOf('ffff'), lastOf('3fff')],
]

/** The last address of IPv6 that begins with some groups. */
function lastOf(groups: string): string {
  return [...groups.split(':'), ...Array.from({ length: 8 }, () => 'ffff')].slice(0, 8).join(':')
}

describe('a wallet address on a stranger’s word', () => {
  it.each(HOSTILE_URLS)('T-1 KEY-6 is not connected to, nor its name resolved: %s', async (url) => {
    const network = fakeNetwork()
    expect(await network.resolver.keySet(url)).toEqual({ ok: false, reason: 'invalid', detail: UNFETCHABLE })
    expect(await network.resolver.publicName(url)).toBeUndefined()
    expect([network.lookups, network.connections]).toEqual([[], []])
  })

  it.each(HOSTILE_ADDRESSES)('T-1 is not connected to where its name means %s', async (address) => {
    const network = fakeNetwork()
    network.addresses = [address]
    expect(await network.resolver.keySet('https://wallet.example/alice')).toEqual({
      ok: false,
      reason: 'unreachable',
      detail: `its host has the address ${address}, which is not public`,
    })
    expect([network.lookups.length, network.connections]).toEqual([1, []])
  })

  it.each(HOSTILE_BLOCKS)(
    'T-1 is not connected to from %s to %s, and is right beside',
    async (first, last, ...beside) => {
      const network = fakeNetwork()
      const addresses = [first, last, ...beside]
      for (const [index, address] of addresses.entries()) {
        network.addresses = [address]
        await network.resolver.keySet(`https://wallet${index}.example/alice`)
      }
      expect(network.lookups).toHaveLength(addresses.length)
      expect(network.connections.flatMap((connection) => connection.addresses)).toEqual(beside)
    },
  )

  it.each([
    '93.184.216.34',
    '100.63.255.255',
    '172.32.0.1',
    '169.253.1.1',
    '198.20.0.1',
    '223.255.255.254',
    '2606:2800:220:1::1',
    '2001:4860::8888',
  ])('is connected to at the public address %s', async (address) => {
    const network = fakeNetwork()
    network.addresses = [address]
    network.documents = { 'https://wallet.example/alice/jwks.json': { keys: [publishedKey('a')] } }
    expect(await network.resolver.keySet('https://wallet.example/alice')).toMatchObject({ ok: true })
    expect(network.connections).toMatchObject([
      { addresses: [address], method: 'GET', headers: { accept: 'application/json' } },
    ])
  })

  it('T-1 checks every address, not the first alone', async () => {
    const network = fakeNetwork()
    network.addresses = ['93.184.216.34', '2606:2800:220:1::1', '10.0.0.1']
    expect(await network.resolver.keySet('https://wallet.example/alice')).toEqual({
      ok: false,
      reason: 'unreachable',
      detail: 'its host has the address 10.0.0.1, which is not public',
    })
    expect(network.connections).toEqual([])
  })

  it('T-1 is not connected to where its name means nothing', async () => {
    const network = fakeNetwork()
    network.addresses = []
    expect(await network.resolver.keySet('https://wallet.example/alice')).toEqual({
      ok: false,
      reason: 'unreachable',
      detail: 'no address of its host was found',
    })
    expect(network.connections).toEqual([])
  })

  it('T-4 is not connected to where its name server answers after the deadline', async () => {
    const network = fakeNetwork()
    let answer = (_: readonly string[]): void => undefined
    network.addresses = new Promise((resolve) => {
      answer = resolve
    })
    const keySet = network.resolver.keySet('https://wallet.example/alice')
    await new Promise(setImmediate)
    network.clock.advance(3000)
    expect(await keySet).toEqual({ ok: false, reason: 'unreachable', detail: 'no answer in time' })
    answer(['93.184.216.34'])
    await new Promise(setImmediate)
    expect(network.connections).toEqual([])
  })

  it('T-2 is resolved once, and connected to at the addresses that were checked', async () => {
    const network = fakeNetwork()
    network.documents = (connection) => {
      network.addresses = ['127.0.0.1']
      throw new Error(`no answer from ${connection.addresses}`)
    }
    expect(await network.resolver.keySet('https://wallet.example/alice')).toEqual({
      ok: false,
      reason: 'unreachable',
      detail: 'no answer from 93.184.216.34',
    })
    expect(network.lookups).toEqual(['wallet.example'])
    expect(network.connections).toMatchObject([{ addresses: ['93.184.216.34'] }])
  })
})

describe('with loopbackHttp', () => {
  it.each(['http://localhost:3000/alice', 'https://127.0.0.1:3001/alice', 'http://[::1]:3002/alice'])(
    'WAS-2 %s is connected to on loopback, unresolved',
    async (walletAddress) => {
      const network = fakeNetwork({ loopbackHttp: true })
      network.addresses = ['93.184.216.34']
      network.documents = { [`${walletAddress}/jwks.json`]: { keys: [publishedKey('a')] } }
      expect(await network.resolver.keySet(walletAddress)).toMatchObject({ ok: true })
      expect(network.lookups).toEqual([])
      for (const address of network.connections[0]?.addresses ?? ['none'])
        expect(address).toMatch(/^127\.0\.0\.1$|^::1$/)
    },
  )

  it.each([
    'http://wallet.example/alice',
    'https://wallet.example:8443/alice',
    'http://localhost.wallet.example/alice',
    'http://10.0.0.1/alice',
    'http://127.0.0.2/alice',
    'https://user@localhost/alice',
    'ftp://localhost/alice',
  ])('WAS-2 %s is refused as ever', async (walletAddress) => {
    const network = fakeNetwork({ loopbackHttp: true })
    expect(await network.resolver.keySet(walletAddress)).toEqual({ ok: false, reason: 'invalid', detail: UNFETCHABLE })
    expect([network.lookups, network.connections]).toEqual([[], []])
  })

  it('WAS-2 a public name that means loopback is refused as ever', async () => {
    const network = fakeNetwork({ loopbackHttp: true })
    network.addresses = ['127.0.0.1']
    expect(await network.resolver.keySet('https://wallet.example/alice')).toEqual({
      ok: false,
      reason: 'unreachable',
      detail: 'its host has the address 127.0.0.1, which is not public',
    })
    expect(network.connections).toEqual([])
  })
})
