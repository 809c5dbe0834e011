import { lastSegment } from '../support/last-segment.ts'
import { type Lane, orderPayment } from './ask.ts'
import { LIMITED } from './grants.ts'
import { fromQuote, quote, receive, reportTransfer, straight } from './orders.ts'
import { amountOf } from './wallet-process/accounts.ts'

/** Something that a client or the wallet does, once what it needs is there; it is asked for until it is answered. */
export type Deed = (lane: Lane) => Promise<(lane: Lane) => Promise<unknown>>

/** What a deed needs, without which it would be no deed. */
function needed(id: string | undefined): string {
  if (id === undefined) throw new Error('the wallet refused what a deed needs')
  return id
}

function payFromQuote(isKeyed: boolean): Deed {
  return async (lane) => {
    const token = lane.client.tokens.spending
    const incoming = needed(await receive(lane, 'carol', { incomingAmount: amountOf('carol', 1_000) }))
    const quoted = await quote(lane, token, 'alice', incoming)
    return (asking) =>
      orderPayment(asking, { token, json: fromQuote('alice', needed(quoted.body.id)), isKeyed, fate: 'paid' })
  }
}

function payStraight(isKeyed: boolean): Deed {
  return async (lane) => {
    const incoming = needed(await receive(lane, 'bob'))
    const json = straight('alice', incoming, 700)
    return (asking) => orderPayment(asking, { token: lane.client.tokens.spending, json, isKeyed, fate: 'paid' })
  }
}

function payTooMuch(isKeyed: boolean): Deed {
  return async (lane) => {
    const incoming = needed(await receive(lane, 'bob'))
    const json = straight('dave', incoming, 100)
    return (asking) => orderPayment(asking, { token: lane.client.tokens.poor, json, isKeyed, fate: 'unpaid' })
  }
}

/** The credit is refused, so that the hold is released and the budget comes back. */
const payClosed: Deed = async (lane) => {
  const { books } = lane.world
  await books.setOpen('erin', true)
  const incoming = needed(await receive(lane, 'erin'))
  await books.setOpen('erin', false)
  const json = straight('alice', incoming, LIMITED.debit)
  return (asking) => orderPayment(asking, { token: lane.client.tokens.limited, json, isKeyed: true, fate: 'unpaid' })
}

const receiveByRail: Deed = async (lane) => {
  const incoming = needed(await receive(lane, 'bob', { incomingAmount: amountOf('bob', 150) }))
  return (asking) => reportTransfer(asking, lastSegment(incoming))
}

/** Everything that is tried at every call. */
export const DEEDS = {
  'a payment from a quote under a key': payFromQuote(true),
  'a payment from a quote without a key': payFromQuote(false),
  'a payment straight to its receiver under a key': payStraight(true),
  'a payment straight to its receiver without a key': payStraight(false),
  'a payment that is refused under a key': payTooMuch(true),
  'a payment that is refused without a key': payTooMuch(false),
  'a payment to a closed account': payClosed,
  'a transfer of a rail': receiveByRail,
  'an incoming payment': async () => (asking) => receive(asking, 'bob'),
} as const satisfies Readonly<Record<string, Deed>>

/** The name of one of them. */
export type DeedName = keyof typeof DEEDS

/** The names of all of them. */
export const DEED_NAMES = Object.keys(DEEDS) as readonly DeedName[]
