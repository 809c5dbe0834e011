function ownMember(value: object, name: string): unknown {
  return Object.getOwnPropertyDescriptor(value, name)?.value
}

/**
 * Whether two values are the same data: same primitives, arrays element by element, objects by their own members. A
 * member that is absent and one that is `undefined` differ.
 */
function isSameData(a: unknown, b: unknown): boolean {
  if (typeof a !== 'object' || typeof b !== 'object' || a === null || b === null) return Object.is(a, b)
  if (Array.isArray(a) !== Array.isArray(b)) return false
  const names = Object.keys(a)
  return (
    names.length === Object.keys(b).length &&
    names.every((name) => Object.hasOwn(b, name) && isSameData(ownMember(a, name), ownMember(b, name)))
  )
}

/** What a case throws when a promise is broken; whatever else it throws comes from the store or the ledger. */
export class AssertionError extends Error {
  override readonly name = 'AssertionError'
}

const LONGEST = 2000

function describe(value: unknown): string {
  const text = JSON.stringify(value, (_name, member: unknown) => {
    if (typeof member === 'bigint') return `${member}n`
    return member === undefined ? 'undefined' : member
  })
  return text.length > LONGEST ? `${text.slice(0, LONGEST)}… (${text.length} characters)` : text
}

/** Throws an `AssertionError` that says `what` was expected and what came instead, unless the two are the same data. */
export function assertSame(actual: unknown, expected: unknown, what: string): void {
  if (!isSameData(actual, expected)) {
    throw new AssertionError(`${what}: expected ${describe(expected)}, got ${describe(actual)}`)
  }
}
