import { type Answer, usd } from '../support/test-wallet.ts'
import {
  askPayment,
  expectRefusal,
  LONG_LIFETIMES,
  limitExceeded,
  OVER_DEBIT_LIMIT,
  type Shop,
  shop,
} from './observed-wallet.ts'

export const DAY = 24 * 3600 * 1000

/** A shop whose grant outlives every window of a test. */
export function limited(
  limits: Readonly<Record<string, unknown>> | undefined,
  intervalCounting: 'additional' | 'total' = 'additional',
): Promise<Shop> {
  return shop({
    ...(limits && { limits }),
    overrides: { settings: { lifetimes: LONG_LIFETIMES, policies: { intervalCounting } } },
  })
}

export async function pay(rig: Shop, value: string, token = rig.spending): Promise<Answer> {
  return askPayment(rig.wallet, token, {
    incomingPayment: rig.incoming.id,
    debitAmount: usd(value),
    // Equal payments of one moment would be one signature, which is taken once.
    metadata: { order: crypto.randomUUID() },
  })
}

export const NO_WINDOW = limitExceeded('no window of the interval is current')

export function refusePay(rig: Shop, value: string, refusal = OVER_DEBIT_LIMIT): Promise<Answer> {
  return expectRefusal(rig.wallet, refusal, () => pay(rig, value))
}

export function moveTo({ wallet }: Shop, moment: string): void {
  wallet.clock.advance(Date.parse(moment) - wallet.clock.now())
}
