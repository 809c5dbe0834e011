import { once } from 'node:events'
import { createServer } from 'node:http'
import type { AddressInfo } from 'node:net'
import { buffer } from 'node:stream/consumers'
import { encodeIlpPacket } from '../../../adapters/ilp/packet.ts'
import { startLines } from '../line-process.ts'

const REPLY = encodeIlpPacket({ type: 'reject', code: 'T00', triggeredBy: '', message: '', data: new Uint8Array() })

/**
 * Sends packets in a process of its own to a peer that breaks the connection instead of answering the second one; with
 * `dies`, it also stops listening. Resolves with the packets that came, and with what their sender takes to have become
 * of each.
 */
export async function sendInProcess(command: readonly string[], dies: boolean) {
  const packets: number[] = []
  const peer = createServer(async (request, response) => {
    const packet = [...(await buffer(request))]
    packets.push(...packet)
    if (packet[0] === 1) return response.end(REPLY)
    if (dies) peer.close()
    return request.socket.destroy()
  }).listen(0, '127.0.0.1')
  await once(peer, 'listening')
  const { port } = peer.address() as AddressInfo
  const sender = startLines(command, `http://127.0.0.1:${port}/ilp`)
  try {
    return { outcomes: await sender.read(), packets }
  } finally {
    await sender.stop()
    peer.close()
  }
}
