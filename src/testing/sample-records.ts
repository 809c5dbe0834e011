import type { Change, RecordTypes } from '../ports/storage.ts'
import { MAX_AMOUNT_VALUE } from '../protocol/amount.ts'
import { DELIVERY, RAIL_RECEIPT, RAIL_TERMS, sampleRailAccount } from './sample-rail.ts'
import { CLIENT, MOMENT, sampleAmount, sampleMetadata, WALLET_ADDRESS } from './sample-values.ts'

export { CLIENT, MOMENT, sampleAmount, WALLET_ADDRESS } from './sample-values.ts'

/** A grant with the members that every grant has, and those given. */
export function sampleGrant(id: string, members: Partial<RecordTypes['grant']> = {}): RecordTypes['grant'] {
  return {
    id,
    state: 'pending',
    createdAt: MOMENT,
    expiresAt: MOMENT + 600_000,
    client: CLIENT,
    keys: [],
    access: [{ type: 'quote', actions: ['create', 'read'] }],
    subject: false,
    secretId: 'f00d',
    continuationHash: 'c0de',
    continueAfter: MOMENT + 5_000,
    wrongReferences: 0,
    ...members,
  }
}

/** An incoming payment with the members that every one has, and those given. */
export function sampleIncomingPayment(
  id: string,
  members: Partial<RecordTypes['incoming-payment']> = {},
): RecordTypes['incoming-payment'] {
  return {
    id,
    walletAddress: WALLET_ADDRESS,
    account: 'bob',
    client: CLIENT,
    state: 'pending',
    createdAt: MOMENT,
    received: sampleAmount(0n),
    reserved: sampleAmount(0n),
    secretId: 'f00d',
    ...members,
  }
}

/** What a grant has spent: `value` in its life. */
export function sampleSpending(id: string, value: bigint): RecordTypes['spending'] {
  return { id, debit: sampleAmount(value), receive: [] }
}

const PINNED = [{ kid: 'key-1', thumbprint: 'kPrK_qmxVWaYVA9wwBF6Iuo3vVzz7TxHCTwXBygrS4k' }] as const
const KEY = { kid: 'key-1', x: '11qYAYKxCrfVS_7TyWQHOg7hcvPapiMlrwIaaPcHURo' }

/** An interaction with the fewest members. */
export const INTERACTION = {
  id: 'least',
  grantId: 'grant',
  state: 'created',
  createdAt: MOMENT,
  expiresAt: MOMENT + 600_000,
} as const satisfies RecordTypes['interaction']

/** An access token with the fewest members. */
export const ACCESS_TOKEN = {
  id: 'least',
  manageId: 'manage',
  secretId: 'f00d',
  state: 'active',
  grantId: 'grant',
  client: CLIENT,
  keys: PINNED,
  access: [{ type: 'incoming-payment', actions: ['list-all'] }],
  issuedAt: MOMENT,
  expiresAt: MOMENT + 600_000,
} as const satisfies RecordTypes['access-token']

/** A quote with the fewest members. */
export const QUOTE = {
  id: 'least',
  walletAddress: WALLET_ADDRESS,
  account: 'alice',
  client: CLIENT,
  state: 'open',
  createdAt: MOMENT,
  expiresAt: MOMENT + 300_000,
  receiver: 'https://wallet.example/incoming-payments/1',
  debitAmount: sampleAmount(MAX_AMOUNT_VALUE + 1n),
  receiveAmount: { value: 1n, assetCode: 'JPY', assetScale: 0 },
  fee: sampleAmount(0n),
} as const satisfies RecordTypes['quote']

/** An outgoing payment with the fewest members. */
export const OUTGOING_PAYMENT = {
  id: 'least',
  walletAddress: WALLET_ADDRESS,
  client: CLIENT,
  state: 'created',
  states: [{ state: 'created', at: MOMENT }],
  createdAt: MOMENT,
  receiver: 'https://wallet.example/incoming-payments/1',
  debitAmount: sampleAmount(MAX_AMOUNT_VALUE),
  receiveAmount: { value: 10n ** 30n, assetCode: '!~', assetScale: 255 },
  fee: sampleAmount(0n),
  sentAmount: sampleAmount(9_007_199_254_740_993n),
  account: 'alice',
  grantId: 'grant',
  spendingIds: [],
  attempts: 0,
} as const satisfies RecordTypes['outgoing-payment']

const RECEIPT = {
  id: 'least',
  incomingPaymentId: 'incoming',
  state: 'credited',
  amount: sampleAmount(MAX_AMOUNT_VALUE),
  createdAt: MOMENT,
} as const satisfies RecordTypes['receipt']

const FULL_GRANT: Required<RecordTypes['grant']> = {
  ...sampleGrant('full'),
  state: 'finalised',
  finalisation: 'revoked',
  clientKey: KEY,
  keys: PINNED,
  access: [
    {
      type: 'outgoing-payment',
      actions: ['create', 'list'],
      identifier: WALLET_ADDRESS,
      limits: {
        interval: 'R/2026-01-01T00:00:00Z/P1M',
        debitAmount: { value: '500', assetCode: 'USD', assetScale: 2 },
      },
    },
  ],
  walletAddress: WALLET_ADDRESS,
  account: 'alice',
  subject: true,
  finish: { uri: 'https://client.example/done?x=1', nonce: 'n', hashMethod: 'sha-512' },
  interactRefHash: 'ab',
  wrongReferences: 5,
  issuedAt: MOMENT + 1,
  tokenId: 'token',
  consentHash: 'cd',
  decidedAt: MOMENT + 2,
}

const FULL_INTERACTION: Required<RecordTypes['interaction']> = {
  ...INTERACTION,
  id: 'full',
  state: 'denied',
  clientName: 'A "client"\u0000 \u{1F600}',
  sessionHash: 'ab',
  consentHash: 'cd',
}

const FULL_ACCESS_TOKEN: Required<RecordTypes['access-token']> = {
  ...ACCESS_TOKEN,
  id: 'full',
  state: 'rotated',
  clientKey: KEY,
  walletAddress: WALLET_ADDRESS,
  account: 'alice',
  rotatedAt: MOMENT + 1,
  successorId: 'least',
}

const FULL_INCOMING_PAYMENT: Required<RecordTypes['incoming-payment']> = {
  ...sampleIncomingPayment('full'),
  state: 'processing',
  expiresAt: MOMENT + 1,
  incomingAmount: sampleAmount(MAX_AMOUNT_VALUE),
  received: sampleAmount(9_007_199_254_740_993n),
  reserved: sampleAmount(MAX_AMOUNT_VALUE - 1n),
  metadata: sampleMetadata(),
}

const FULL_QUOTE: Required<RecordTypes['quote']> = {
  ...QUOTE,
  id: 'full',
  receiveWorth: MAX_AMOUNT_VALUE + 1n,
  rail: RAIL_TERMS,
  outgoingPaymentId: 'payment',
}

const FULL_OUTGOING_PAYMENT: Required<RecordTypes['outgoing-payment']> = {
  ...OUTGOING_PAYMENT,
  id: 'full',
  state: 'decided',
  states: [
    { state: 'created', at: MOMENT },
    { state: 'sending', at: MOMENT + 1 },
    { state: 'decided', at: MOMENT + 1 },
  ],
  quoteId: 'quote',
  receiveCharge: MAX_AMOUNT_VALUE + 1n,
  metadata: sampleMetadata(),
  incomingPaymentId: 'incoming',
  payeeAccount: 'bob',
  rail: { ...RAIL_TERMS, address: 'g.other-wallet.~incoming', walletAddress: 'https://other-wallet.example/carol' },
  delivery: DELIVERY,
  spendingIds: ['grant:0:life', 'grant:0:1785000000000'],
  chargedAfter: { payment: 'payment', place: 9_007_199_254_740_991 },
  decision: { action: 'settle', amount: MAX_AMOUNT_VALUE, fee: 9_007_199_254_740_993n },
  attempts: 7,
  keyId: 'key',
}

const SPENDING: RecordTypes['spending'] = {
  ...sampleSpending('full', 10n ** 24n),
  lastCharge: { payment: 'payment', place: 9_007_199_254_740_991 },
  receive: [{ value: '18446744073709551616', assetCode: 'EUR', assetScale: 9 }],
}

/** The signed request of a payment. */
export const SIGNED_REQUEST: RecordTypes['signed-request'] = {
  id: 'payment',
  publicKey: KEY,
  signature: 'c2lnbmVk',
  base: '"@method": POST\n"authorization": GNAP \u2039token\u203a\n"@signature-params": ("@method" "authorization")',
  body: '\ufeff{ "walletAddress":\t"https://wallet.example/alice",\r\n "text": "\u{1F600} \' \\u0000 %" }\n',
  tokenSecretId: 'f00d',
  tokenManageId: 'manage',
}

const FULL_RECEIPT: Required<RecordTypes['receipt']> = {
  ...RECEIPT,
  id: 'full',
  state: 'reserved',
  outgoingPaymentId: 'payment',
  excess: 1n,
  ...RAIL_RECEIPT,
}

const IDEMPOTENCY_KEY: RecordTypes['idempotency-key'] = {
  id: 'key',
  bodyHash: 'c0de',
  resourceId: 'payment',
  answer: { id: 'https://wallet.example/outgoing-payments/payment', failed: false, metadata: sampleMetadata() },
  expiresAt: MOMENT,
}

const EVENT: RecordTypes['event'] = {
  id: 'payment:2',
  event: {
    type: 'outgoing_payment.failed',
    id: 'payment:2',
    at: MOMENT,
    outgoingPayment: 'payment',
    walletAddress: WALLET_ADDRESS,
    debitAmount: { value: '18446744073709551615', assetCode: 'USD', assetScale: 2 },
    sentAmount: { value: '0', assetCode: 'USD', assetScale: 2 },
  },
}

/** A change that inserts a record. */
export type Insert = Extract<Change, { readonly action: 'insert' }>

/** What a store must give back unchanged: each kind of record with all of its members, and with the fewest. */
export function sampleInserts(): readonly Insert[] {
  const released = { ...OUTGOING_PAYMENT, id: 'released', decision: { action: 'release', reason: 'expired' } } as const
  return [
    { action: 'insert', kind: 'grant', value: sampleGrant('least') },
    { action: 'insert', kind: 'grant', value: FULL_GRANT, isListed: true, dueAt: MOMENT },
    { action: 'insert', kind: 'interaction', value: INTERACTION },
    { action: 'insert', kind: 'interaction', value: FULL_INTERACTION, dueAt: MOMENT },
    { action: 'insert', kind: 'access-token', value: ACCESS_TOKEN },
    { action: 'insert', kind: 'access-token', value: FULL_ACCESS_TOKEN, dueAt: MOMENT },
    { action: 'insert', kind: 'incoming-payment', value: sampleIncomingPayment('least') },
    { action: 'insert', kind: 'incoming-payment', value: FULL_INCOMING_PAYMENT, isListed: true, dueAt: MOMENT },
    { action: 'insert', kind: 'quote', value: QUOTE },
    { action: 'insert', kind: 'quote', value: FULL_QUOTE, dueAt: MOMENT },
    { action: 'insert', kind: 'outgoing-payment', value: OUTGOING_PAYMENT },
    { action: 'insert', kind: 'outgoing-payment', value: FULL_OUTGOING_PAYMENT, isListed: true, dueAt: 0 },
    { action: 'insert', kind: 'outgoing-payment', value: released },
    { action: 'insert', kind: 'spending', value: sampleSpending('least', 0n) },
    { action: 'insert', kind: 'spending', value: SPENDING, dueAt: MOMENT },
    { action: 'insert', kind: 'receipt', value: RECEIPT },
    { action: 'insert', kind: 'receipt', value: FULL_RECEIPT, dueAt: MOMENT },
    { action: 'insert', kind: 'rail-account', value: sampleRailAccount() },
    { action: 'insert', kind: 'replay-claim', value: { id: 'claim', expiresAt: MOMENT }, dueAt: MOMENT },
    { action: 'insert', kind: 'idempotency-key', value: IDEMPOTENCY_KEY, dueAt: MOMENT },
    { action: 'insert', kind: 'signed-request', value: SIGNED_REQUEST },
    { action: 'insert', kind: 'event', value: EVENT, dueAt: MOMENT },
  ]
}
