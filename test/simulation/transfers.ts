import type { Amount, ReceivedPayment } from 'open-payments-server'
import { lastSegment } from '../support/last-segment.ts'
import { CAROL } from '../support/test-wallet.ts'
import { askWallet } from './grants.ts'
import type { World } from './world.ts'

/** Money that came on a rail of the wallet's own, and what was answered each time that it was reported. */
export interface Transfer {
  readonly id: string
  readonly incoming: string
  readonly amount: Amount
  accepted: string | undefined
}

/** Reports a transfer: a new one, or one that was reported before, with the same arguments or with others. */
export async function reportTransfer(
  world: World,
  transfers: Transfer[],
  receiver: { readonly url: string; readonly walletAddress: string } | undefined,
): Promise<void> {
  const { random } = world
  if (receiver === undefined) return
  const { url, walletAddress } = receiver
  const asset = walletAddress === CAROL ? { assetCode: 'EUR', assetScale: 4 } : { assetCode: 'USD', assetScale: 2 }
  const old = transfers.length > 0 && random.chance(0.4) ? random.pick(transfers) : undefined
  const fresh: Transfer = {
    id: `transfer-${transfers.length}`,
    incoming: lastSegment(url),
    amount: { ...asset, value: BigInt(random.between(1, 300)) },
    accepted: undefined,
  }
  if (old === undefined) transfers.push(fresh)
  const transfer = old ?? fresh
  const isOther = old !== undefined && random.chance(0.3)
  const incoming = isOther && random.chance(0.5) ? lastSegment(url) : transfer.incoming
  const amount = isOther ? { ...transfer.amount, value: transfer.amount.value + 1n } : transfer.amount
  const answer = await askWallet(world, async ({ incomingPayments }) => {
    const received = await incomingPayments.received(incoming, amount, transfer.id)
    judge(world, transfer, isOther, received)
    return received
  })
  if (answer === undefined) world.met('nobody knows whether a transfer was counted')
}

/** Reports a transfer that was counted: once nothing goes wrong it must be answered as before. */
export async function reportAgain(world: World, { id, incoming, amount, accepted }: Transfer): Promise<void> {
  const answer = await askWallet(world, ({ incomingPayments }) => incomingPayments.received(incoming, amount, id))
  const told = answer?.ok === true ? `${answer.accepted} ${answer.excess}` : 'nothing'
  if (told !== accepted) world.violate(`4: transfer ${id} was answered ${accepted}, and at last ${told}`)
}

function judge(world: World, transfer: Transfer, isOther: boolean, received: ReceivedPayment): void {
  world.met(`a transfer: ${received.ok ? 'counted' : received.reason}`)
  const receipt = world.storage.find('receipt', `rail:${transfer.id}`)?.value
  const name = `4: transfer ${transfer.id}`
  if (!received.ok) {
    const isCounted = receipt !== undefined && transfer.accepted !== undefined && !isOther
    if (isCounted) world.violate(`${name} was counted and then refused: ${received.reason}`)
    return
  }
  const { accepted, excess } = received
  if (receipt?.amount.value !== accepted || receipt.excess !== excess)
    world.violate(`${name} is answered ${accepted} and ${excess}, and kept otherwise`)
  // With other arguments it may be the one that is counted, where the first report was not.
  else if (isOther && transfer.accepted !== undefined) world.violate(`${name} was counted with other arguments`)
  else if (!isOther) {
    const told = `${accepted} ${excess}`
    if (transfer.accepted !== undefined && transfer.accepted !== told) world.violate(`${name} is answered otherwise`)
    transfer.accepted = told
  }
}
