import type { IncomingMessage, ServerResponse } from 'node:http'
import type { Socket } from 'node:net'

/**
 * Whether earlier answers are to be written first. A response that was made without a connection never gets a socket, nor does
 * one that the host has ended get another.
 */
export function isQueued({ socket }: IncomingMessage, response: ServerResponse): boolean {
  return response.socket === null && !response.writableEnded && socket.pending === false
}

/**
 * Waits until the answer of a request may be written. Nothing more is read from its connection while anything on it waits:
 * Node itself stops only for answers that nobody takes, and what waits has none. @spec T-36
 */
export function createConnectionTurns(): (socket: Socket, response: ServerResponse) => Promise<void> {
  /** How many wait, by connection. */
  const waiting = new WeakMap<Socket, number>()
  // Node reads on by itself for a body that has come in part.
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
