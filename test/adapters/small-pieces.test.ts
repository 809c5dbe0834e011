import { IncomingMessage, ServerResponse } from 'node:http'
import { Socket } from 'node:net'
import { setFlagsFromString } from 'node:v8'
import { runInNewContext } from 'node:vm'
import { describe, expect, it } from 'vitest'
import { toNodeListener } from '../../adapters/node.ts'
import { fromFetchRequest } from '../../src/http/fetch-exchange.ts'
import type { HttpRequest } from '../../src/ports/http-exchange.ts'
import { turn } from '../support/turns.ts'

setFlagsFromString('--expose-gc')
const collectGarbage: () => void = runInNewContext('gc')

const CHUNKS = 2000
const LIMIT = 65_536

/** Bytes of a body that come one by one, and how many of them are still held as they came. */
function singleBytes() {
  const refs: WeakRef<Uint8Array>[] = []
  return {
    next(): Uint8Array {
      // Not a plain array of bytes: a stream of Node would wrap that.
      const chunk = Buffer.from([refs.length % 256])
      refs.push(new WeakRef(chunk))
      return chunk
    },
    async held(): Promise<number> {
      // A reference that was made or read in this turn stays until the next.
      await new Promise((resolve) => setTimeout(resolve))
      collectGarbage()
      return refs.filter((ref) => ref.deref() !== undefined).length
    },
  }
}

const EXPECTED = Uint8Array.from({ length: CHUNKS }, (_, index) => index % 256)

/** A request of `node:http`, and what the listener passes on. */
async function arrive(headers: Readonly<Record<string, string>>, rawHeaders: string[] = []) {
  const request = Object.assign(new IncomingMessage(new Socket()), { method: 'POST', url: '/op', rawHeaders })
  request.httpVersionMajor = 1
  Object.assign(request.headers, headers)
  const passedOn = await new Promise<HttpRequest>((resolve) => {
    const listener = toNodeListener({
      owns: async () => true,
      handle: (passed) => {
        resolve(passed)
        return new Promise(() => undefined)
      },
    })
    listener(request, new ServerResponse(request))
  })
  return { request, passedOn }
}

describe('a body that comes byte by byte', () => {
  it('T-36 holds no more memory than its bytes need, on node:http', async () => {
    const { request, passedOn } = await arrive({ 'transfer-encoding': 'chunked' })
    const bytes = singleBytes()
    const reading = passedOn.bytes(LIMIT)
    for (let count = 0; count < CHUNKS; count++) {
      request.push(bytes.next())
      // The stream passes on what it was given in an earlier turn.
      if (count % 100 === 0) await turn()
    }
    await turn()
    expect(await bytes.held()).toBeLessThan(10)
    request.push(null)
    expect(new Uint8Array((await reading) ?? [])).toEqual(EXPECTED)
  })

  it('T-36 holds no more memory than its bytes need, on a Fetch host', async () => {
    const bytes = singleBytes()
    let count = 0
    let held = 0
    const body = new ReadableStream<Uint8Array>({
      async pull(controller) {
        if (count === CHUNKS) {
          held = await bytes.held()
          controller.close()
        } else {
          count++
          controller.enqueue(bytes.next())
        }
      },
    })
    const init: RequestInit & { readonly duplex: 'half' } = { method: 'POST', body, duplex: 'half' }
    const read = await fromFetchRequest(new Request('https://wallet.example/op', init)).bytes(LIMIT)
    expect(held).toBeLessThan(10)
    expect(new Uint8Array(read ?? [])).toEqual(EXPECTED)
  })
})

describe('many header lines', () => {
  it('T-36 are looked through once, however many fields are asked for', async () => {
    const lines = Array.from({ length: 900 }, (_, index) => [
      `${index % 2 === 0 ? 'X' : 'x'}-${index % 300}`,
      `${index}`,
    ])
    let read = 0
    const rawHeaders = new Proxy(lines.flat(), {
      get(target, name, receiver) {
        if (typeof name === 'string' && /^\d+$/.test(name)) read++
        return Reflect.get(target, name, receiver)
      },
    })
    const { passedOn } = await arrive({ 'content-length': '1' }, rawHeaders)
    for (let round = 0; round < 8; round++) {
      for (let field = 0; field < 28; field++)
        expect(passedOn.headerLines(`x-${field}`)).toEqual([`${field}`, `${field + 300}`, `${field + 600}`])
      expect(passedOn.headerLines('x-300')).toEqual([])
      expect(passedOn.headerLines('constructor')).toEqual([])
    }
    expect(read).toBeLessThanOrEqual(2 * 900)
  })
})

it('a request that was made without a connection has no lines of a field that only JavaScript knows', async () => {
  const { passedOn } = await arrive({ 'content-length': '1' })
  expect(passedOn.headerLines('content-length')).toEqual(['1'])
  for (const name of ['constructor', '__proto__']) expect(passedOn.headerLines(name)).toEqual([])
})
