import { ODD_NAMES, ODD_TOKENS, objectOf, oddValue } from './odd-values.ts'
import type { Random } from './random.ts'

/** What a mutation draws from: random choices, and texts that the server itself has given out. */
export interface Source {
  readonly random: Random
  readonly pool: readonly string[]
}

function countNodes(value: unknown): number {
  if (typeof value !== 'object' || value === null) return 1
  return Object.values(value).reduce((sum: number, member) => sum + countNodes(member), 1)
}

/** Changes the node of a number, counted in depth first. */
function changeNode(value: unknown, index: { left: number }, change: (node: unknown) => unknown): unknown {
  if (index.left-- === 0) return change(value)
  if (typeof value !== 'object' || value === null) return value
  if (Array.isArray(value)) return value.map((member) => changeNode(member, index, change))
  return objectOf(Object.entries(value).map(([name, member]) => [name, changeNode(member, index, change)] as const))
}

function retyped(value: unknown, { random }: Source): unknown {
  const asText = typeof value === 'string' ? value : JSON.stringify(value)
  return random.pick<() => unknown>([
    () => [value],
    () => ({ value }),
    () => asText,
    () => Number(asText),
    () => asText === 'true',
    () => null,
    () => ` ${asText}`,
    () => asText.toUpperCase(),
  ])()
}

function withoutOne(value: object, random: Random): unknown {
  const dropped = random.below(Math.max(1, Object.keys(value).length))
  if (Array.isArray(value)) return value.filter((_, index) => index !== dropped)
  return objectOf(Object.entries(value).filter((_, index) => index !== dropped))
}

function withOneMore(value: object, { random, pool }: Source): unknown {
  const odd = oddValue(random, pool)
  if (Array.isArray(value)) return [...value, value.length > 0 && random.oneIn(2) ? random.pick(value) : odd]
  const name = random.oneIn(3) ? random.pick([...Object.keys(value), 'x']) : random.pick(ODD_NAMES)
  return objectOf([...Object.entries(value), [name, odd]])
}

function changed(node: unknown, source: Source): unknown {
  const { random, pool } = source
  if (typeof node === 'object' && node !== null) {
    const kind = random.below(5)
    if (kind <= 1) return withoutOne(node, random)
    if (kind === 2) return withOneMore(node, source)
    if (kind === 3) return retyped(node, source)
    return oddValue(random, pool)
  }
  if (random.oneIn(4)) return retyped(node, source)
  if (typeof node === 'string' && random.oneIn(4)) {
    const { from, to } = random.stretch(node)
    return node.slice(0, from) + (random.oneIn(2) ? random.pick(['0', '/', '%00', ' ', 'é', '?']) : '') + node.slice(to)
  }
  return oddValue(random, pool)
}

/** A value that differs from `value` in one place. */
export function mutateJson(value: unknown, source: Source): unknown {
  const index = { left: source.random.below(countNodes(value)) }
  return changeNode(value, index, (node) => changed(node, source))
}

/** Arrays in arrays, as text. */
const deep = (depth: number): string => '['.repeat(depth) + ']'.repeat(depth)

const encoder = new TextEncoder()

/** The bytes of a JSON text that is not quite one, or that says something twice. */
export function mutateText(text: string, { random }: Source): string | Uint8Array {
  const { from, to } = random.stretch(text)
  switch (random.below(10)) {
    case 0:
      return text.slice(0, from)
    case 1:
      return text.slice(0, from) + random.pick(['"', '{', ']', ',', '\u0000', '\\', '\ud800', '💩']) + text.slice(to)
    case 2:
      return `\ufeff${text}`
    case 3:
      return Uint8Array.from([
        ...encoder.encode(text.slice(0, from)),
        0xc3,
        0x28,
        0xff,
        ...encoder.encode(text.slice(to)),
      ])
    case 4:
      return text.replace(/^\{/, `{"__proto__":{"polluted":true},"constructor":{"prototype":{"polluted":true}},`)
    case 5:
      return text.replace(/"(\w+)":/, '"$1":null,"$1":')
    case 6:
    case 7:
      return text.replace(/^\{/, `{"more":${deep(random.pick([1, 30, 31, 32, 33, 20_000]))},`)
    case 8:
      return text.padEnd(random.pick([65_535, 65_536, 65_537]), ' ')
    default: {
      const places = [...text.matchAll(/:("(?:[^"\\]|\\.)*"|[0-9]+|true|false|null)/g)]
      if (places.length === 0) return random.pick(ODD_TOKENS)
      const place = random.pick(places)
      return `${text.slice(0, place.index)}:${random.pick(ODD_TOKENS)}${text.slice(place.index + place[0].length)}`
    }
  }
}
