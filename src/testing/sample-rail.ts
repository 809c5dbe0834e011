import type { RecordTypes } from '../ports/storage.ts'
import { MAX_AMOUNT_VALUE } from '../protocol/amount.ts'

const ACCOUNT = 'g.other-wallet/EUR/9'

/** How a receiver on another server is paid. */
export const RAIL_TERMS = {
  method: 'ilp',
  account: ACCOUNT,
  sendAmount: { value: '18446744073709551615', assetCode: 'EUR', assetScale: 9 },
  rate: { sent: '184467440737095516150000', received: '1' },
  isFixedReceive: true,
} as const satisfies RecordTypes['quote']['rail']

/** How far a delivery has come. */
export const DELIVERY = {
  sent: '9007199254740993',
  received: '18446744073709551615',
  inFlightSent: '1',
  inFlightReceived: '0',
  notes: '[{"sequence":"1","text":"\u0000 \u{1F600} \' \\"}]',
  isLeftToHost: 'unknown',
} as const satisfies RecordTypes['outgoing-payment']['delivery']

/** What a receipt has that came through an account of a rail. */
export const RAIL_RECEIPT = {
  payeeAccount: 'bob',
  railAccountId: `ilp:${ACCOUNT}`,
  railAmount: 10n ** 30n,
} as const satisfies Partial<RecordTypes['receipt']>

/** What has moved through an account of a rail. */
export function sampleRailAccount(members: Partial<RecordTypes['rail-account']> = {}): RecordTypes['rail-account'] {
  return {
    id: `ilp:${ACCOUNT}`,
    assetCode: 'EUR',
    assetScale: 9,
    sent: 10n ** 24n,
    inFlight: 10n ** 23n,
    received: MAX_AMOUNT_VALUE + 1n,
    ...members,
  }
}
