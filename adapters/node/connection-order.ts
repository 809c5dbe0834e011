import type { IncomingMessage, ServerResponse } from 'node:http'
import type { Socket } from 'node:net'

/**
 * Whether earlier answers on the connection must be written first. A response that was made without a connection never
 * gets a socket, and one that the host has ended gets no other.
 */
export function isQueued({ socket }: IncomingMessage, response: ServerResponse): boolean {
  return response.socket === null && !response.writableEnded && socket.pending === false
}

/**
 * Waits until the answer to a request may be written. Meanwhile nothing more is read from its connection: Node itself
 * pauses only for answers that the client does not take, and a waiting request has no answer yet.
 * @spec T-36
 */
export function createConnectionOrder(): (socket: Socket, response: ServerResponse) => Promise<void> {
  /** How many requests wait, by connection. */
  const waiting = new WeakMap<Socket, number>()
  // Node resumes reading by itself if a body has come only in part.
  function stop(this: Socket): void {
    this.pause()
  }
  return async (socket, response) => {
    const before = waiting.get(socket) ?? 0
    waiting.set(socket, before + 1)
    if (before === 0) socket.on('resume', stop)
    socket.pause()
    await new Promise((resolve) => response.once('socket', resolve))
    const left = (waiting.get(socket) ?? 0) - 1
    waiting.set(socket, left)
    if (left === 0) socket.off('resume', stop).resume()
  }
}
