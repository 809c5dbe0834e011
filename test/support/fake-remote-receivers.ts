import type { Asset, FoundReceiver, IlpPaymentMethod, ReceiverAsker, RemoteReceivers } from 'open-payments-server'

/** An incoming payment on another server, which a test changes as it likes. */
export interface FakeReceiver {
  readonly url: string
  /** The payee's, as its server says. */
  walletAddress: string | undefined
  asset: Asset
  incomingValue: bigint | undefined
  receivedValue: bigint
  isCompleted: boolean
  expiresAt: number | undefined
  address: string
  sharedSecret: string
  hasMethod: boolean
  /** What its server does instead of answering. */
  trouble: Extract<FoundReceiver, { ok: false }>['reason'] | 'silence' | undefined
}

/** Other servers' incoming payments, and how often each was asked for. */
export interface FakeRemoteReceivers extends RemoteReceivers {
  readonly asked: string[]
  /** In whose name. */
  readonly askers: (ReceiverAsker | undefined)[]
  readonly all: FakeReceiver[]
  /** Called before each answer. */
  before: (url: string) => Promise<void>
  add(members?: Partial<FakeReceiver>): FakeReceiver
}

export const REMOTE = 'https://other-wallet.example'

export function fakeRemoteReceivers(): FakeRemoteReceivers {
  const fake: FakeRemoteReceivers = {
    asked: [],
    askers: [],
    all: [],
    before: async () => undefined,
    add: (members = {}) => {
      const number = fake.all.length + 1
      const receiver: FakeReceiver = {
        url: `${REMOTE}/incoming-payments/payment-${number}`,
        walletAddress: undefined,
        asset: { assetCode: 'USD', assetScale: 2 },
        incomingValue: undefined,
        receivedValue: 0n,
        isCompleted: false,
        expiresAt: undefined,
        address: `test.other-wallet.payment-${number}`,
        sharedSecret: Buffer.alloc(32, number).toString('base64url'),
        hasMethod: true,
        trouble: undefined,
        ...members,
      }
      fake.all.push(receiver)
      return receiver
    },
    find: async (url, asker) => {
      fake.asked.push(url)
      fake.askers.push(asker)
      await fake.before(url)
      const receiver = fake.all.find((one) => one.url === url)
      if (receiver?.trouble === 'silence') return new Promise(() => undefined)
      if (receiver === undefined) return { ok: false, reason: 'unknown' }
      const { trouble } = receiver
      if (trouble === 'rate_limited') return { ok: false, reason: trouble, retryAfterSeconds: 3 }
      return trouble === undefined ? answerOf(receiver) : { ok: false, reason: trouble }
    },
  }
  return fake
}

function answerOf(receiver: FakeReceiver): FoundReceiver {
  const { address, sharedSecret, hasMethod, isCompleted } = receiver
  return foundReceiver(receiver, hasMethod && !isCompleted ? [{ type: 'ilp', ilpAddress: address, sharedSecret }] : [])
}

type Told = Pick<FakeReceiver, 'url' | 'asset' | 'incomingValue' | 'receivedValue' | 'isCompleted' | 'expiresAt'> &
  Partial<Pick<FakeReceiver, 'walletAddress'>>

/** What a server says of an incoming payment, with the methods that it names for it. */
export function foundReceiver(
  { url, walletAddress, asset, incomingValue, receivedValue, isCompleted, expiresAt }: Told,
  methods: readonly IlpPaymentMethod[],
): FoundReceiver {
  return {
    ok: true,
    payment: {
      url,
      ...(walletAddress !== undefined && { walletAddress }),
      isCompleted,
      ...(incomingValue !== undefined && { incomingAmount: { ...asset, value: incomingValue } }),
      receivedAmount: { ...asset, value: receivedValue },
      ...(expiresAt !== undefined && { expiresAt }),
      methods,
    },
  }
}
