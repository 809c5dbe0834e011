import { createHash } from 'node:crypto'
import { decodeIlpPacket, type IlpPrepare } from '../../adapters/ilp/packet.ts'
import { ASSETS, type AssetCode, peerTokenOf, type WalletName } from './wallet-process/wallets.ts'

/** A packet that a wallet has sent to the other one, however often. */
export interface LoggedPacket {
  readonly from: WalletName
  /** Hexadecimal. */
  readonly condition: string
  /** As its sender has written it, in the asset of the account that it is sent through. */
  readonly amount: bigint
  readonly assetCode: AssetCode
  readonly destination: string
  /** How often its sender has sent it, and how often it has reached the other wallet or will, altered on its way or not. */
  sent: number
  delivered: number
  /** How often the other wallet has answered it with its fulfillment, and with a refusal. */
  fulfilled: number
  rejected: number
  /** What the other wallet answered last: a status, or the code and the message of a refusal. */
  answered?: string
}

/** Everything that was sent between two wallets, kept by the network. */
export interface PacketLog {
  /** By wallet that sends them and by condition. */
  readonly packets: ReadonlyMap<string, LoggedPacket>
  /** What a body is, noted as sent; `undefined` where it is no packet of an account between these wallets. */
  note(from: WalletName, authorization: string | undefined, body: Uint8Array): LoggedPacket | undefined
  /** Notes what the other wallet has answered. */
  noteReply(packet: LoggedPacket, status: number, body: Uint8Array): void
}

/** The packet that some octets are, where they are one that offers money. */
export function readPrepare(body: Uint8Array): IlpPrepare | undefined {
  const packet = decodeIlpPacket(body)
  return packet?.type === 'prepare' ? packet : undefined
}

/** An empty one. */
export function openPacketLog(): PacketLog {
  const packets = new Map<string, LoggedPacket>()
  return {
    packets,
    note(from, authorization, body) {
      const prepare = readPrepare(body)
      const asset = ASSETS.find(({ assetCode }) => authorization === `Bearer ${peerTokenOf(from, assetCode)}`)
      if (prepare === undefined || asset === undefined) return undefined
      const { amount, destination } = prepare
      const condition = Buffer.from(prepare.executionCondition).toString('hex')
      const name = `${from} ${condition}`
      const packet = packets.get(name) ?? {
        ...{ from, condition, amount, destination, assetCode: asset.assetCode },
        ...{ sent: 0, delivered: 0, fulfilled: 0, rejected: 0 },
      }
      packets.set(name, packet)
      packet.sent += 1
      return packet
    },
    noteReply(packet, status, body) {
      const reply = decodeIlpPacket(body)
      packet.answered = reply?.type === 'reject' ? `${reply.code} ${reply.message}` : `status ${status}`
      if (reply?.type === 'reject') packet.rejected += 1
      if (reply?.type !== 'fulfill') return
      const hash = createHash('sha256').update(reply.fulfillment).digest('hex')
      if (hash === packet.condition) packet.fulfilled += 1
    },
  }
}
