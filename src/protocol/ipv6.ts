import { parseUrl } from './url.ts'

/** The eight groups of an IPv6 address in any spelling, each hexadecimal without leading zeros; `undefined` for other text. */
export function ipv6Groups(text: string): readonly string[] | undefined {
  // The URL parser accepts every spelling of an address and returns the canonical one, in hexadecimal groups.
  const url = /^[\da-f]*:[\da-f:.]*$/i.test(text) ? parseUrl(`http://[${text}]`) : undefined
  if (url === undefined) return undefined
  const [before = [], after = []] = url.hostname
    .slice(1, -1)
    .split('::')
    .map((part) => part.split(':').filter((group) => group !== ''))
  return [...before, ...Array.from({ length: 8 - before.length - after.length }, () => '0'), ...after]
}

/** The network that counts as one party, by the groups of an address in it: anyone who has one address has all of its /64. */
export function ipv6Network(groups: readonly string[]): string {
  return `${groups.slice(0, 4).join(':')}::/64`
}
