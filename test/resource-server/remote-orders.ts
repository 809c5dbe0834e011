import { gate } from '../support/gate.ts'
import { type Answer, usd } from '../support/test-wallet.ts'
import { askPayment, askQuote, expectStatus, type RemoteShop } from './observed-wallet.ts'

/** Asks for a quote of Alice for the receiver on the other server; returns its URL. */
export const quoteFor = async ({ wallet, spending, receiver }: RemoteShop, value = '60'): Promise<string> =>
  (await expectStatus(201, askQuote(wallet, spending, { receiver: receiver.url, debitAmount: usd(value) }))).body.id

export const payQuote = ({ wallet, spending }: RemoteShop, quoteId: string): Promise<Answer> =>
  askPayment(wallet, spending, { quoteId })

let orders = 0

/** Each order is another one: equal ones of one moment would be one signature, which is taken once. */
export const payDirectly = (
  { wallet, spending, receiver }: RemoteShop,
  value = '60',
  incomingPayment = receiver.url,
): Promise<Answer> =>
  askPayment(wallet, spending, { incomingPayment, debitAmount: usd(value), metadata: { order: ++orders } })

/** A rail that comes so far, by the word of the receiver, and no further. */
export function endsAt({ rail }: RemoteShop, sent: bigint, received: bigint): void {
  rail.answerDelivery = async () => ({
    outcome: 'ended',
    progress: { sent, received, inFlight: { sent: 0n, received: 0n }, notes: '' },
    reason: 'the receiver takes no more',
  })
}

/** Lets the other server answer only once it is told to. */
export function holdUp({ remote }: RemoteShop): { readonly asked: Promise<void>; readonly letGo: () => void } {
  const [asked, answered] = [gate(), gate()]
  remote.before = () => {
    asked.open()
    return answered.opened
  }
  return { asked: asked.opened, letGo: answered.open }
}
