import * as v from 'valibot'
import { Amount, amountToWire, type WireAmount } from './amount.ts'
import { parseInterval } from './interval.ts'
import { parseReceiver } from './receiver.ts'

/** The limits of an outgoing-payment right, in wire form. Amounts are the maximum per window of the interval. */
export interface WireLimits {
  readonly receiver?: string
  readonly interval?: string
  readonly debitAmount?: WireAmount
  readonly receiveAmount?: WireAmount
}

const amountAsSent = v.pipe(Amount, v.transform(amountToWire))

/**
 * The `limits` member of an access entry: at most one amount, a parseable interval, and a receiver of the published
 * form, which is put into its canonical spelling.
 * @spec GRT-10 @spec LIM-5
 */
export const Limits: v.GenericSchema<unknown, WireLimits> = v.pipe(
  v.unknown(),
  // An object schema takes a list for an object without members, and limits that are a list would be none at all.
  v.check((value) => !Array.isArray(value), 'must be an object, not a list'),
  v.strictObject({
    receiver: v.exactOptional(
      v.pipe(
        v.string(),
        // In the spelling in which it will be compared: whoever approves it must not be shown a look-alike of the real
        // host.
        v.transform((text) => parseReceiver(text)?.url),
        v.string('not the URL of an incoming payment'),
      ),
    ),
    interval: v.exactOptional(
      v.pipe(
        v.string(),
        v.check(
          (text) => parseInterval(text) !== undefined,
          'not a repeating interval with a period of at least 60 seconds and at most 100000000 days',
        ),
      ),
    ),
    debitAmount: v.exactOptional(amountAsSent),
    receiveAmount: v.exactOptional(amountAsSent),
  }),
  v.check(
    (limits) => limits.debitAmount === undefined || limits.receiveAmount === undefined,
    'only one access amount allowed',
  ),
)
