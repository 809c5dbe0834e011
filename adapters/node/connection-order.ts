import type { ServerResponse } from 'node:http'
import type { Socket } from 'node:net'

/** Of one connection. */
interface Counts {
  /** The reads that are carried out before their turn. */
  ahead: number
  /** The requests that wait. */
  waiting: number
  /** The changes that are not answered. */
  changes: number
}

/** The most reads that one connection has carried out before their turn: the answers to all of them are kept until then. */
const MOST_AHEAD = 8

/**
 * Waits until a request may be carried out: a change, until the answer to it may be written; a read, until then only if a
 * change before it is not answered, or if enough of them are carried out ahead. Meanwhile nothing more is read from its
 * connection: Node itself pauses only for answers that the client does not take, and a waiting request has no answer yet.
 * @spec T-36
 */
export function createConnectionOrder(): (
  socket: Socket,
  response: ServerResponse,
  isSafe: boolean,
) => Promise<void> | undefined {
  const counts = new WeakMap<Socket, Counts>()
  // Node resumes reading by itself if a body has come only in part.
  function stop(this: Socket): void {
    this.pause()
  }
  const wait = async (socket: Socket, response: ServerResponse, count: Counts): Promise<void> => {
    if (count.waiting++ === 0) socket.on('resume', stop)
    socket.pause()
    await new Promise((resolve) => response.once('socket', resolve))
    if (--count.waiting === 0) socket.off('resume', stop).resume()
  }
  return (socket, response, isSafe) => {
    const isLater = isQueued(socket, response)
    if (isSafe && !isLater) return undefined
    const count = counts.get(socket) ?? { ahead: 0, waiting: 0, changes: 0 }
    counts.set(socket, count)
    if (isSafe && count.changes === 0 && count.ahead < MOST_AHEAD) {
      count.ahead++
      response.once('socket', () => count.ahead--)
      return undefined
    }
    if (!isSafe && !response.closed) {
      count.changes++
      response.once('close', () => count.changes--)
    }
    return isLater ? wait(socket, response, count) : undefined
  }
}

/**
 * Whether earlier answers on the connection must be written first. A response that was made without a connection never
 * gets a socket, and one that the host has ended gets no other.
 */
function isQueued(socket: Socket, response: ServerResponse): boolean {
  return response.socket === null && !response.writableEnded && socket.pending === false
}
