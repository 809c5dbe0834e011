import { connect, type Socket } from 'node:net'

/** How a load went. */
export interface Load {
  readonly requests: number
  readonly seconds: number
  /** Milliseconds of each request, from its first byte to the last of its answer, sorted. */
  readonly latencies: readonly number[]
}

const HEAD_END = Buffer.from('\r\n\r\n')

/** An answer as far as the load looks at it. */
export interface RawAnswer {
  readonly status: number
  readonly body: Buffer
}

interface Connection {
  exchange(request: Buffer): Promise<RawAnswer>
  close(): void
}

/** One keep-alive connection that sends bytes as they are and reads answers with a length. */
function openConnection(port: number): Promise<Connection> {
  return new Promise((resolve, reject) => {
    const socket: Socket = connect({ port, host: '127.0.0.1', noDelay: true })
    let received = Buffer.alloc(0)
    let waiting: { resolve(answer: RawAnswer): void; reject(error: unknown): void } | undefined
    const fail = (error: unknown): void => {
      waiting?.reject(error)
      waiting = undefined
      reject(error)
    }
    socket.on('error', fail)
    socket.on('close', () => fail(new Error('the server has closed a connection')))
    socket.on('data', (chunk) => {
      received = received.length === 0 ? chunk : Buffer.concat([received, chunk])
      const answer = readAnswer(received)
      if (answer === undefined) return
      received = received.subarray(answer.end)
      const { resolve: answered } = waiting ?? { resolve: () => undefined }
      waiting = undefined
      answered(answer)
    })
    socket.on('connect', () =>
      resolve({
        exchange: (request) =>
          new Promise((answered, failed) => {
            waiting = { resolve: answered, reject: failed }
            socket.write(request)
          }),
        close: () => socket.destroy(),
      }),
    )
  })
}

function readAnswer(bytes: Buffer): (RawAnswer & { readonly end: number }) | undefined {
  const head = bytes.indexOf(HEAD_END)
  if (head < 0) return undefined
  const text = bytes.toString('latin1', 0, head)
  const status = Number(text.slice(9, 12))
  const length = /\r\ncontent-length: *(\d+)/i.exec(text)?.[1]
  const start = head + HEAD_END.length
  if (length !== undefined) {
    const end = start + Number(length)
    return bytes.length < end ? undefined : { status, body: bytes.subarray(start, end), end }
  }
  if (status === 204) return { status, body: Buffer.alloc(0), end: start }
  return readChunks(bytes, start, status)
}

function readChunks(bytes: Buffer, start: number, status: number): (RawAnswer & { readonly end: number }) | undefined {
  const parts: Buffer[] = []
  let at = start
  for (;;) {
    const line = bytes.indexOf('\r\n', at)
    if (line < 0) return undefined
    const size = Number.parseInt(bytes.toString('latin1', at, line), 16)
    const next = line + 2 + size + 2
    if (bytes.length < next) return undefined
    if (size === 0) return { status, body: Buffer.concat(parts), end: next }
    parts.push(bytes.subarray(line + 2, line + 2 + size))
    at = next
  }
}

/** Sends every request once, over so many connections, each as soon as its connection is free. Rejects for another status. */
export async function runLoad(
  port: number,
  requests: readonly Buffer[],
  connections: number,
  status: number,
  onAnswer?: (answer: RawAnswer, index: number) => void,
): Promise<Load> {
  const open = await Promise.all(Array.from({ length: connections }, () => openConnection(port)))
  const latencies: number[] = []
  let next = 0
  const started = performance.now()
  await Promise.all(
    open.map(async (connection) => {
      for (let index = next++; index < requests.length; index = next++) {
        const request = requests[index]
        if (request === undefined) return
        const at = performance.now()
        const answer = await connection.exchange(request)
        latencies.push(performance.now() - at)
        if (answer.status !== status) throw new Error(`expected ${status}, got ${answer.status}: ${answer.body}`)
        onAnswer?.(answer, index)
      }
    }),
  )
  const seconds = (performance.now() - started) / 1000
  for (const connection of open) connection.close()
  return { requests: requests.length, seconds, latencies: latencies.sort((a, b) => a - b) }
}
