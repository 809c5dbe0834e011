import { encodeIlpPacket, type IlpPrepare } from '../../adapters/ilp/packet.ts'
import { conditionOf, deriveStreamKeys } from '../../adapters/ilp/stream-keys.ts'
import { encodeStreamPacket } from '../../adapters/ilp/stream-packet.ts'
import { fromBase64url } from '../../src/protocol/bytes.ts'
import { cryptography } from '../support/test-wallet.ts'

export interface Details {
  readonly ilpAddress: string
  readonly sharedSecret: string
}

const GIVEN: IlpPrepare = {
  type: 'prepare',
  amount: 0n,
  expiresAt: 0,
  executionCondition: new Uint8Array(32),
  destination: '',
  data: new Uint8Array(),
}

/** A packet for an incoming payment, made of its published details. */
export async function packetFor({ ilpAddress, sharedSecret }: Details, amount: bigint, now: number, sequence = 1n) {
  const keys = await deriveStreamKeys(cryptography, fromBase64url(sharedSecret) ?? new Uint8Array())
  const plain = encodeStreamPacket({ ilpPacketType: 12, sequence, amount, frames: [] })
  const data = await keys.encrypt(plain, cryptography.randomBytes(16))
  const executionCondition = await conditionOf(cryptography, await keys.fulfillmentOf(data))
  const sent = { amount, expiresAt: now + 30_000, executionCondition, destination: ilpAddress, data }
  return encodeIlpPacket({ ...GIVEN, ...sent })
}

/** The details that an incoming payment is published with. */
export const detailsOf = ({ methods }: { readonly methods: readonly Details[] }): Details => {
  const [details] = methods
  if (details === undefined) throw new Error('the payment cannot be paid')
  return details
}
