import type { AuditedPayment } from 'open-payments-server'
import { memoryLedger } from 'open-payments-server/ledger/memory'
import { tellLedger } from 'open-payments-server/reconciliation'
import { expect, it } from 'vitest'
import { ALICE, usd } from '../support/test-wallet.ts'

const CAROL = 'https://wallet.example/carol'
const USD = { assetCode: 'USD', assetScale: 2 }

/** What `audit()` says of a payment to another wallet, as far as a ledger is told of it. */
function sentTo(id: string, debit: string, sent: string, createdAt: number): AuditedPayment {
  const rail = {
    method: 'ilp',
    account: 'test.peer/USD/2',
    address: 'test.peer.bob',
    sendAmount: usd(debit),
    sent: usd(sent),
    received: usd(sent),
    inFlightSent: usd('0'),
    inFlightReceived: usd('0'),
  }
  const isWhole = sent === debit
  const told = {
    id,
    walletAddress: ALICE,
    client: 'https://shop.example/pay',
    state: isWhole ? 'completed' : 'failed',
    states: [],
    createdAt,
    receiver: 'https://other.example/incoming-payments/1',
    debitAmount: usd(debit),
    receiveAmount: usd(debit),
    fee: usd('0'),
    sentAmount: usd(sent),
    account: 'alice',
    holdId: id,
    rail,
    ...(!isWhole && { failureReason: 'expired' }),
  } as const
  const grant = { id: '1', createdAt, access: [], subject: false }
  const signedRequest = {
    method: 'POST',
    targetUri: '',
    signature: '',
    publicKey: { kid: '', x: '' },
    thumbprint: '',
    body: '',
    withheld: 'erased',
  } as const
  return { ...told, grant, signedRequest }
}

it.each([
  ['of one wallet address', [ALICE]],
  ['of two wallet addresses with one account', [CAROL, ALICE]],
])(
  'tells the ledger the payments %s in their order: what an older one gave back pays for a later one',
  async (_, walletAddresses) => {
    const ledger = memoryLedger({ accounts: [{ account: 'alice', ...USD, balance: 100n }] })
    // Of 90, all but 10 came back. Then there were 90 for a payment of 85.
    const older = sentTo('a'.repeat(32), '90', '10', 1)
    const later = sentTo('b'.repeat(32), '85', '85', 2)
    async function* audit(walletAddress: string): AsyncGenerator<AuditedPayment> {
      if (walletAddresses.length === 1) yield* [later, older]
      else yield walletAddress === CAROL ? later : older
    }
    const options = { openPayments: { audit }, walletAddresses, ledger }
    expect(await tellLedger(options)).toEqual([])
    expect(await ledger.balance('alice')).toMatchObject({ total: 5n, held: 0n })
    expect(await tellLedger(options)).toEqual([])
    expect(await ledger.balance('alice')).toMatchObject({ total: 5n, held: 0n })
  },
)
