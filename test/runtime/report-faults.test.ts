import type { OpenPaymentsEvent } from 'open-payments-server'
import { afterEach, describe, expect, it, vi } from 'vitest'
import { reportFaults } from '../../src/runtime/report-faults.ts'

afterEach(() => vi.restoreAllMocks())

const at = 0
const usd = (value: string) => ({ value, assetCode: 'USD', assetScale: 2 })
const told = { railAccount: 'g.peer/USD/2', sent: usd('0'), received: usd('0'), inFlightReceived: usd('8') }

function printed(event: OpenPaymentsEvent): readonly unknown[] {
  const print = vi.spyOn(console, 'error').mockReturnValue()
  reportFaults(event)
  return print.mock.calls
}

describe('the sink for events of a server without one', () => {
  it.each<[OpenPaymentsEvent, string]>([
    [
      {
        type: 'payment_stalled',
        at,
        outgoingPayment: 'p1',
        state: 'sending',
        attempts: 3,
        retryAt: 1,
        reason: 'no answer',
      },
      'payment p1 is stalled in "sending", attempt 3, until recover() takes it up: no answer',
    ],
    [
      { type: 'delivery_unknown', at, outgoingPayment: 'p1', ...told, inFlightSent: usd('9') },
      'it is not known whether 9 USD of scale 2 of payment p1 have arrived: ask the peer of g.peer/USD/2, then call outgoingPayments.sent or .failed',
    ],
    [
      {
        type: 'credit_refused',
        id: 'r1:1',
        at,
        incomingPayment: 'i1',
        receipt: 'r1',
        amount: usd('7'),
        reason: 'account_closed',
      },
      '7 USD of scale 2 have arrived for incoming payment i1, but the ledger refuses to credit them (account_closed): book receipt r1 by hand',
    ],
    [
      { type: 'rail_unavailable', at, railAccount: 'g.peer/USD/2', reason: 'sending_limit' },
      'nothing moves through g.peer/USD/2: sending_limit. Pay the peer, and count that in `settled`',
    ],
    [
      { type: 'rail_unavailable', at, railAccount: 'g.peer/USD/2', reason: 'unreachable', detail: 'ECONNREFUSED' },
      'nothing moves through g.peer/USD/2: unreachable, ECONNREFUSED. Check that the peer is up and its url is right',
    ],
    [
      { type: 'key_substituted', at, client: 'https://shop.example/pay', keyId: 'k1' },
      'client https://shop.example/pay came with a different key under "k1": it was refused, and its wallet may be compromised',
    ],
  ])('prints one line about %o', (event, line) => {
    expect(printed(event)).toEqual([[`open-payments-server: ${line}`]])
  })

  it('prints a fault with its cause', () => {
    const cause = new Error('a cause')
    const fault = { type: 'fault', at, operation: undefined, message: 'a fault', cause } as const
    expect(printed(fault)).toEqual([['open-payments-server: a fault', cause]])
  })

  it('says once what its cause says as well', () => {
    const cause = new TypeError('a cause')
    const fault = { type: 'fault', at, operation: undefined, message: 'a cause', cause } as const
    expect(printed(fault)).toEqual([['open-payments-server:', cause]])
  })

  it('names the call of the ledger that a fault is of', () => {
    const cause = new Error('a cause')
    const call = { call: 'credit', callId: 'c1' } as const
    expect(printed({ type: 'fault', at, operation: undefined, message: 'the ledger failed', cause, ...call })).toEqual([
      ['open-payments-server: the ledger failed (credit c1)', cause],
    ])
  })

  it('says nothing of what needs nobody', () => {
    expect(printed({ type: 'request', at, operation: undefined, status: 500 })).toEqual([])
    expect(printed({ type: 'recovered', at, payments: 1, receipts: 0, events: 0, isFull: false })).toEqual([])
  })
})
