import * as v from 'valibot'

/** Metadata that a client attaches to a payment: any JSON object, given back unchanged. */
export type Metadata = Readonly<Record<string, unknown>>

/** The largest serialised form, in UTF-16 code units. */
const MAX_LENGTH = 8192
const MAX_DEPTH = 8

function depthOf(value: unknown, limit: number): number {
  if (typeof value !== 'object' || value === null) return 0
  if (limit === 0) return 1
  let deepest = 0
  for (const member of Object.values(value)) deepest = Math.max(deepest, depthOf(member, limit - 1))
  return deepest + 1
}

function isMetadata(value: unknown): value is Metadata {
  return typeof value === 'object' && value !== null && !Array.isArray(value)
}

/**
 * Accepts a JSON object of at most 8 KiB and 8 levels and hands on the very same object: nothing is merged, so an
 * own property called `__proto__` stays data.
 * @spec INC-11
 */
export const Metadata: v.GenericSchema<unknown, Metadata> = v.pipe(
  // The depth is part of the schema and not a check: after a failed check the next one would still run, and serialising
  // what is nested too deeply ends the stack.
  v.custom<Metadata>(
    (value) => isMetadata(value) && depthOf(value, MAX_DEPTH) <= MAX_DEPTH,
    'metadata must be an object of at most 8 levels',
  ),
  v.check((value) => JSON.stringify(value).length <= MAX_LENGTH, 'metadata is too large'),
)
