import type { IncomingMessage, ServerResponse } from 'node:http'
import type { Socket } from 'node:net'

/**
 * Whether earlier answers on the connection must be written first. A response that was made without a connection never
 * gets a socket, and one that the host has ended gets no other.
 */
export function isQueued({ socket }: IncomingMessage, response: ServerResponse): boolean {
  return response.socket === null && !response.writableEnded && socket.pending === false
}

/** The most reads that one connection has carried out before their turn: the answers to all of them are kept until then. */
const MOST_AHEAD = 8

/**
 * Waits until the answer to a request may be written, or not at all for one of the few reads that may be carried out before
 * that. Meanwhile nothing more is read from its connection: Node itself pauses only for answers that the client does not
 * take, and a waiting request has no answer yet.
 * @spec T-36
 */
export function createConnectionOrder(): (socket: Socket, response: ServerResponse, isSafe: boolean) => Promise<void> {
  /** By connection: how many reads are carried out before their turn, and how many requests wait. */
  const counts = new WeakMap<Socket, { ahead: number; waiting: number }>()
  // Node resumes reading by itself if a body has come only in part.
  function stop(this: Socket): void {
    this.pause()
  }
  return async (socket, response, isSafe) => {
    const count = counts.get(socket) ?? { ahead: 0, waiting: 0 }
    counts.set(socket, count)
    if (isSafe && count.ahead < MOST_AHEAD) {
      count.ahead++
      response.once('socket', () => count.ahead--)
      return
    }
    if (count.waiting++ === 0) socket.on('resume', stop)
    socket.pause()
    await new Promise((resolve) => response.once('socket', resolve))
    if (--count.waiting === 0) socket.off('resume', stop).resume()
  }
}
