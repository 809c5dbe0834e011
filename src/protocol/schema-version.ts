/**
 * The form in which this release writes the values of each kind of record. A number is raised when an older release
 * would misread what this one writes; this release reads every form up to it.
 */
export const SCHEMA_VERSIONS = {
  grant: 1,
  interaction: 1,
  'access-token': 1,
  'incoming-payment': 1,
  quote: 1,
  'outgoing-payment': 1,
  'signed-request': 1,
  spending: 1,
  receipt: 1,
  'rail-account': 1,
  'replay-claim': 1,
  'idempotency-key': 1,
  event: 1,
} as const
