import { ipv6Groups, ipv6Network } from '../protocol/ipv6.ts'

/** The first 96 bits of IPv6 addresses that stand for an IPv4 address: those that a socket maps, and those of NAT64. */
const IPV4_NETWORKS: ReadonlySet<string> = new Set(['0:0:0:0:0:ffff', '64:ff9b:0:0:0:0'])

/** An IPv4 address with a port, or an IPv6 address in brackets, as RFC 7239 writes them. */
const ADDRESS_WITH_PORT = /^(?:(\d+(?:\.\d+){3}):\d+|\[([\da-f]*:[^\]]+)\](?::\d+)?)$/i

/**
 * What counts as one source. An IPv6 address stands for its /64: anyone who has one address has 2^64 of them. An IPv4 address
 * counts the same when written as IPv6, and any address the same with a port, which some proxies write, and of which anyone
 * has thousands. Spaces around it do not count: an entry of a list in a header has one before it. Any other names that a host
 * gives its sources are left as they are.
 */
export function sourceNetwork(source: string): string {
  const address = source.trim().replace(ADDRESS_WITH_PORT, '$1$2')
  const groups = ipv6Groups(address.split('%', 1)[0] ?? '')
  if (groups === undefined) return address
  if (IPV4_NETWORKS.has(groups.slice(0, 6).join(':'))) return dotted(groups.slice(6))
  return ipv6Network(groups)
}

function dotted(groups: readonly string[]): string {
  return groups
    .map((group) => Number.parseInt(group, 16))
    .flatMap((bits) => [bits >> 8, bits & 255])
    .join('.')
}
