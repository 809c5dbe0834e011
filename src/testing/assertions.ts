function ownMember(value: object, name: string): unknown {
  return Object.getOwnPropertyDescriptor(value, name)?.value
}

/**
 * The names that lead to the first difference between two values, or `undefined` if they are the same data: same
 * primitives, arrays element by element, objects by their own members. A member that is absent and one that is `undefined`
 * differ.
 */
function differenceOf(a: unknown, b: unknown): readonly string[] | undefined {
  if (typeof a !== 'object' || typeof b !== 'object' || a === null || b === null)
    return Object.is(a, b) ? undefined : []
  if (Array.isArray(a) !== Array.isArray(b)) return []
  for (const name of new Set([...Object.keys(a), ...Object.keys(b)])) {
    if (!Object.hasOwn(a, name) || !Object.hasOwn(b, name)) return [name]
    const names = differenceOf(ownMember(a, name), ownMember(b, name))
    if (names !== undefined) return [name, ...names]
  }
  return undefined
}

/**
 * Thrown by a case if a promise of the port is broken; anything else that it throws comes from the storage or the
 * ledger.
 */
export class AssertionError extends Error {
  override readonly name = 'AssertionError'
}

const LONGEST = 2000

/** As JSON, but with bigints and `undefined` as they stand in code: in quotes they would look like texts. */
function describe(value: unknown): string {
  const json = JSON.stringify(value, (_name, member: unknown) => {
    if (typeof member === 'bigint') return `\0${member}n`
    return member === undefined ? '\0undefined' : member
  })
  const text = json.replace(/"\\u0000(-?\d+n|undefined)"/g, '$1')
  return text.length > LONGEST ? `${text.slice(0, LONGEST)}… (${text.length} characters)` : text
}

/** Throws an `AssertionError` that says `what` was expected and what came instead, unless the two are the same data. */
export function assertSame(actual: unknown, expected: unknown, what: string): void {
  const names = differenceOf(actual, expected)
  if (names === undefined) return
  const place = names.length > 0 ? `; they differ at ${names.join('.')}` : ''
  throw new AssertionError(`${what}: expected ${describe(expected)}, got ${describe(actual)}${place}`)
}
