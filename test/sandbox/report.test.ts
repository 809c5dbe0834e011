import type { OpenPaymentsEvent } from 'open-payments-server'
import { afterEach, describe, expect, it, vi } from 'vitest'
import { reportTrouble } from '../../examples/sandbox/report.ts'

afterEach(() => vi.restoreAllMocks())

const at = 0
const usd = (value: string) => ({ value, assetCode: 'USD', assetScale: 2 })
const amount = usd('250')
const sums = { sent: usd('0'), received: usd('0'), inFlightSent: usd('9'), inFlightReceived: usd('8') }
const unknown = { railAccount: 'test.second/USD/2', ...sums }

describe('what a sandbox tells the person who started it', () => {
  it.each<[OpenPaymentsEvent, string]>([
    [
      { type: 'payment_stalled', at, outgoingPayment: 'p1', state: 'sending', attempts: 3, retryAt: 1, reason: 'busy' },
      'payment p1 is stalled in "sending", attempt 3: busy',
    ],
    [
      { type: 'rail_unavailable', at, railAccount: 'test.second/USD/2', reason: 'sending_limit' },
      'nothing moves through test.second/USD/2: sending_limit',
    ],
    [
      { type: 'rail_unavailable', at, railAccount: 'test.second/USD/2', reason: 'unreachable', detail: 'ECONNREFUSED' },
      'nothing moves through test.second/USD/2: unreachable, ECONNREFUSED',
    ],
    [
      { type: 'credit_refused', id: 'r1:1', at, incomingPayment: 'i1', receipt: 'r1', amount, reason: 'not_allowed' },
      '2.50 USD that came for incoming payment i1 cannot be credited: not_allowed',
    ],
    [
      { type: 'delivery_unknown', at, outgoingPayment: 'p1', ...unknown },
      'nobody knows whether 0.08 USD of payment p1 have arrived',
    ],
  ])('is a line about %o', (event, line) => {
    const warn = vi.fn()
    reportTrouble(warn)(event)
    expect(warn.mock.calls).toEqual([[line]])
  })

  it('is a fault with its cause, and nothing of what needs nobody', () => {
    const print = vi.spyOn(console, 'error').mockReturnValue()
    const warn = vi.fn()
    const cause = new Error('a cause')
    reportTrouble(warn)({ type: 'fault', at, operation: undefined, message: 'a fault', cause })
    reportTrouble(warn)({ type: 'request', at, operation: undefined, status: 200 })
    expect(print.mock.calls).toEqual([['open-payments-server: a fault', cause]])
    expect(warn).not.toHaveBeenCalled()
  })
})
