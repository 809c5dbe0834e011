import { once } from 'node:events'
import { Agent, get, type IncomingMessage } from 'node:http'

/** What became of a connection that was kept busy. */
export interface BusyConnection {
  readonly answers: number
  /** Why there was no further one: ECONNREFUSED where the server was gone, and no request with it. */
  readonly ended: unknown
}

const MOST = 20

/** Asks over one connection, as a busy proxy does: as soon as an answer is there, the next request goes out. */
export async function keepBusy(url: string): Promise<BusyConnection> {
  const agent = new Agent({ keepAlive: true, maxSockets: 1 })
  let answers = 0
  try {
    while (answers < MOST) {
      const [answer]: IncomingMessage[] = await once(get(url, { agent }), 'response')
      await answer?.resume().toArray()
      answers += 1
    }
    return { answers, ended: undefined }
  } catch (error) {
    return { answers, ended: error instanceof Error && 'code' in error ? error.code : error }
  } finally {
    agent.destroy()
  }
}
