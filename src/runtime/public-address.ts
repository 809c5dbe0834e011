import { ipv6Groups, ipv6Network } from '../protocol/ipv6.ts'

/**
 * Blocks of IPv4 that are not the public internet, and the one address on which a cloud serves its virtual machines.
 * @spec T-1
 */
const REFUSED_IPV4: readonly (readonly [address: string, prefix: number])[] = [
  ['0.0.0.0', 8],
  ['10.0.0.0', 8],
  ['100.64.0.0', 10],
  ['127.0.0.0', 8],
  ['168.63.129.16', 32],
  ['169.254.0.0', 16],
  ['172.16.0.0', 12],
  ['192.0.0.0', 24],
  ['192.0.2.0', 24],
  ['192.88.99.0', 24],
  ['192.168.0.0', 16],
  ['198.18.0.0', 15],
  ['198.51.100.0', 24],
  ['203.0.113.0', 24],
  ['224.0.0.0', 4],
  ['240.0.0.0', 4],
]

/**
 * Blocks inside 2000::/3 that are refused: protocol assignments with Teredo and ORCHID, documentation, 6to4. Everything
 * outside 2000::/3 is refused too: loopback, mapped and compatible IPv4, NAT64, ULA, link-local, multicast.
 */
const REFUSED_IPV6: readonly (readonly [address: string, prefix: number])[] = [
  ['2001::', 23],
  ['2001:db8::', 32],
  ['2002::', 16],
  ['3fff::', 20],
]

/** Whether a text is an IP address, as a resolver writes it, on the public internet. @spec T-1 */
export function isPublicAddress(address: string): boolean {
  const ipv4 = parseIpv4(address)
  if (ipv4 !== undefined) return !REFUSED_IPV4.some(([block, prefix]) => isWithin(ipv4, parseIpv4(block), prefix, 32))
  const ipv6 = parseIpv6(address)
  if (ipv6 === undefined || !isWithin(ipv6, parseIpv6('2000::'), 3, 128)) return false
  return !REFUSED_IPV6.some(([block, prefix]) => isWithin(ipv6, parseIpv6(block), prefix, 128))
}

/** The part of the public internet that counts as one party: an IPv4 address, or the /64 network of an IPv6 address. */
export function networkOf(address: string): string {
  const groups = ipv6Groups(address)
  return groups === undefined ? address : ipv6Network(groups)
}

function isWithin(address: bigint, block: bigint | undefined, prefix: number, width: number): boolean {
  const shift = BigInt(width - prefix)
  return block !== undefined && address >> shift === block >> shift
}

function parseIpv4(text: string): bigint | undefined {
  const parts = text.split('.')
  if (parts.length !== 4 || !parts.every((part) => /^(?:0|[1-9]\d{0,2})$/.test(part) && Number(part) <= 255))
    return undefined
  return parts.reduce((value, part) => (value << 8n) | BigInt(part), 0n)
}

function parseIpv6(text: string): bigint | undefined {
  return ipv6Groups(text)?.reduce((value, group) => (value << 16n) | BigInt(`0x${group}`), 0n)
}
