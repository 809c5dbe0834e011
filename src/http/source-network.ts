import { parseUrl } from '../protocol/url.ts'

/** The first 96 bits of the addresses that stand for an IPv4 address: as a socket maps one into IPv6, and of NAT64. */
const IPV4_NETWORKS: ReadonlySet<string> = new Set(['0:0:0:0:0:ffff', '64:ff9b:0:0:0:0'])

/**
 * What counts as one source. An IPv6 address stands for its /64: whoever has one has 2^64 of them. An IPv4 address is
 * the same where it is written into IPv6. Whatever else a host names its sources by is left as it is.
 */
export function sourceNetwork(source: string): string {
  const address = source.split('%', 1)[0] ?? ''
  // The URL parser knows every way to write an address and answers with one of them, in hexadecimal groups.
  const url = /^[\da-f]*:[\da-f:.]*$/i.test(address) ? parseUrl(`http://[${address}]`) : undefined
  if (url === undefined) return source
  const [head = '', tail] = url.hostname.slice(1, -1).split('::')
  const before = head.split(':').filter((group) => group !== '')
  const after = (tail ?? '').split(':').filter((group) => group !== '')
  const groups = [...before, ...Array.from({ length: 8 - before.length - after.length }, () => '0'), ...after]
  if (IPV4_NETWORKS.has(groups.slice(0, 6).join(':'))) return dotted(groups.slice(6))
  return `${groups.slice(0, 4).join(':')}::/64`
}

function dotted(groups: readonly string[]): string {
  return groups
    .map((group) => Number.parseInt(group, 16))
    .flatMap((bits) => [bits >> 8, bits & 255])
    .join('.')
}
