import * as v from 'valibot'

/**
 * Anything but a list. An object schema accepts a list as an object without members. That matters if all members are
 * optional: limits that are a list would be no limits at all.
 */
export const NoList: v.GenericSchema<unknown> = v.pipe(
  v.unknown(),
  v.check((value) => !Array.isArray(value), 'must be an object, not a list'),
)
