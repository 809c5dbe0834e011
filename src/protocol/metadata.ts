import * as v from 'valibot'
import { toUtf8 } from './bytes.ts'
import { isObject } from './is-object.ts'

/** Metadata that a client attaches to a payment: a JSON object, returned unchanged. */
export type Metadata = Readonly<Record<string, unknown>>

/** The largest serialised form, in bytes. */
const MAX_BYTES = 8192
const MAX_DEPTH = 8

/**
 * Whether a value has at most so many levels of objects and arrays, and no number above 2^53 - 1 either way: integers
 * may lose their last digits there, and `1e400` is read as infinity.
 */
function isRepeatable(value: unknown, levels: number): boolean {
  if (typeof value === 'number') return Math.abs(value) <= Number.MAX_SAFE_INTEGER
  if (!isObject(value)) return true
  return levels > 0 && Object.values(value).every((member) => isRepeatable(member, levels - 1))
}

/**
 * Accepts a JSON object of at most 8 KiB and 8 levels and passes on the same object: nothing is copied or merged, so an
 * own property called `__proto__` stays data.
 * @internal
 * @spec INC-11
 */
export const Metadata: v.GenericSchema<unknown, Metadata> = v.pipe(
  // The depth is tested by the schema, not by a check: after a failed check the next one would still run, and
  // serialising a value that is nested too deeply overflows the stack.
  v.custom<Metadata>(
    (value) => isObject(value) && !Array.isArray(value) && isRepeatable(value, MAX_DEPTH),
    'must be an object of at most 8 levels, with no number beyond 2^53 - 1: write larger ones as text',
  ),
  v.check((value) => toUtf8(JSON.stringify(value)).length <= MAX_BYTES, 'too large'),
)
