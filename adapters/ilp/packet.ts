import { joinBytes, toUtf8 } from '../../src/protocol/bytes.ts'
import { isIlpAddress } from '../../src/protocol/payment-method.ts'
import { type OerReader, readOer, uint8, uint64, varOctets, varText } from './oer.ts'

/** An offer to pay `amount` to `destination`, if its fulfillment is shown before `expiresAt` (milliseconds, UTC). */
export interface IlpPrepare {
  readonly type: 'prepare'
  readonly amount: bigint
  readonly expiresAt: number
  /** SHA-256 of the fulfillment, 32 octets. */
  readonly executionCondition: Uint8Array
  readonly destination: string
  readonly data: Uint8Array
}

/** The offer is taken: whoever shows the fulfillment is owed the amount. */
export interface IlpFulfill {
  readonly type: 'fulfill'
  /** 32 octets. */
  readonly fulfillment: Uint8Array
  readonly data: Uint8Array
}

/** The offer is refused, and nothing is owed. */
export interface IlpReject {
  readonly type: 'reject'
  /** `F` final, `T` temporary, `R` relative, and two digits. */
  readonly code: string
  /** The address of whoever refused it; some connectors leave it empty or write something that is not an address. */
  readonly triggeredBy: string
  readonly message: string
  readonly data: Uint8Array
}

/** What answers a prepare. */
export type IlpReply = IlpFulfill | IlpReject
/** A packet of the Interledger Protocol, version 4. */
export type IlpPacket = IlpPrepare | IlpReply

const TYPES = { prepare: 12, fulfill: 13, reject: 14 } as const
const CODE = /^[FTR]\d\d$/

/** No packet carries more data, in octets. */
export const MAX_DATA_OCTETS = 32_767
/** The longest prepare, in octets: its data, an address of 1023, 57 for the other fields, and the lengths. */
export const MAX_PREPARE_OCTETS = MAX_DATA_OCTETS + 1023 + 57 + 10

/** Writes a packet. Throws a `RangeError` if an amount or the expiry does not fit. */
export function encodeIlpPacket(packet: IlpPacket): Uint8Array<ArrayBuffer> {
  return joinBytes([uint8(TYPES[packet.type]), varOctets(contentOf(packet))])
}

function contentOf(packet: IlpPacket): Uint8Array {
  const data = varOctets(packet.data)
  switch (packet.type) {
    case 'prepare': {
      const { amount, expiresAt, executionCondition, destination } = packet
      return joinBytes([uint64(amount), toUtf8(timestampOf(expiresAt)), executionCondition, varText(destination), data])
    }
    case 'fulfill':
      return joinBytes([packet.fulfillment, data])
    case 'reject': {
      const { code, triggeredBy, message } = packet
      return joinBytes([toUtf8(code), varText(triggeredBy), varText(message), data])
    }
  }
}

/**
 * Reads a packet; `undefined` if its type is unknown or a field is malformed. Octets after the last field, inside the
 * envelope or after it, are ignored, for future versions. Writing a packet that was read gives the same octets, except
 * for those and for text that is not UTF-8.
 */
export function decodeIlpPacket(bytes: Uint8Array): IlpPacket | undefined {
  const reader = readOer(bytes)
  const type = reader.uint8()
  const packet = reader.varPart(() => readPacket(type, reader))
  return reader.isBroken() ? undefined : packet
}

function readPacket(type: number, content: OerReader): IlpPacket | undefined {
  switch (type) {
    case TYPES.prepare:
      return readPrepare(content)
    case TYPES.fulfill:
      return { type: 'fulfill', fulfillment: content.octets(32), data: content.varOctets() }
    case TYPES.reject:
      return readReject(content)
  }
  return undefined
}

function readPrepare(content: OerReader): IlpPrepare | undefined {
  const amount = content.uint64()
  const expiresAt = momentOf(asciiOf(content.octets(17)))
  const executionCondition = content.octets(32)
  const destination = content.varText()
  const data = content.varOctets()
  if (expiresAt === undefined || !isIlpAddress(destination) || data.length > MAX_DATA_OCTETS) return undefined
  return { type: 'prepare', amount, expiresAt, executionCondition, destination, data }
}

// A reject with oddities still counts as a reject: treated as no answer at all, it would leave money in doubt.
function readReject(content: OerReader): IlpReject | undefined {
  const code = asciiOf(content.octets(3))
  const triggeredBy = content.varText()
  const message = content.varText()
  const data = content.varOctets()
  return CODE.test(code) ? { type: 'reject', code, triggeredBy, message, data } : undefined
}

const asciiOf = (octets: Uint8Array): string => String.fromCharCode(...octets)

/** `2026-02-28T23:59:59.007Z` as 20260228235959007. */
function timestampOf(moment: number): string {
  const digits = new Date(moment).toISOString().replace(/[^\d+]/g, '')
  // Years of more than four digits have a sign.
  if (digits.length !== 17) throw new RangeError(`${moment} is no moment of the years 0 to 9999`)
  return digits
}

function momentOf(text: string): number | undefined {
  const iso = text.replace(/^(\d{4})(\d\d)(\d\d)(\d\d)(\d\d)(\d\d)(\d{3})$/, '$1-$2-$3T$4:$5:$6.$7Z')
  const moment = Date.parse(iso)
  // Some engines accept 30 February as a date.
  return Number.isNaN(moment) || new Date(moment).toISOString() !== iso ? undefined : moment
}

/** The data of an `F08`, in the hop's own units: it received `receivedAmount` and takes at most `maximumAmount`. */
export interface AmountTooLarge {
  readonly receivedAmount: bigint
  readonly maximumAmount: bigint
}

/** Writes the data of an `F08`. */
export function encodeAmountTooLarge({ receivedAmount, maximumAmount }: AmountTooLarge): Uint8Array {
  return joinBytes([uint64(receivedAmount), uint64(maximumAmount)])
}

/** Reads the data of an `F08`; `undefined` if it is missing. */
export function readAmountTooLarge({ data }: IlpReject): AmountTooLarge | undefined {
  const reader = readOer(data)
  const amounts = { receivedAmount: reader.uint64(), maximumAmount: reader.uint64() }
  return reader.isBroken() ? undefined : amounts
}
