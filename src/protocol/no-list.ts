import * as v from 'valibot'

/**
 * What is no list. A schema of an object reads a list as one without members, which matters if all of them may be
 * missing: limits that are a list would be no limits.
 */
export const NoList: v.GenericSchema<unknown> = v.pipe(
  v.unknown(),
  v.check((value) => !Array.isArray(value), 'must be an object, not a list'),
)
