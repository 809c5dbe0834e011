import { IncomingMessage, ServerResponse } from 'node:http'
import { Socket } from 'node:net'
import { describe, expect, it } from 'vitest'
import { createBatches, gatherWork } from '../../adapters/batches.ts'
import { serveHandler as serveBun } from '../../adapters/bun.ts'
import { serveHandler as serveDeno } from '../../adapters/deno.ts'
import { toNodeListener } from '../../adapters/node.ts'
import { turn } from '../support/turns.ts'
import { createNotingServer, type NotingServer } from './noting-server.ts'

/** A request for a host of Node, and where its answer goes. */
function arrive(method: string) {
  const request = Object.assign(new IncomingMessage(new Socket()), { method, url: '/op' })
  if (method === 'POST') request.headers['content-length'] = '1'
  return { request, response: new ServerResponse(request) }
}

const fetched = (method: string) =>
  new Request('https://wallet.example/op', { method, ...(method === 'POST' && { body: '1' }) })

/** For each host: how one request reaches a server, from a source that is named as long as the turn lasts. */
const HOSTS: readonly [string, (server: NotingServer, source: () => string) => (method: string) => unknown][] = [
  [
    'node:http',
    (server, source) => {
      const listener = toNodeListener(server, { source })
      return (method) => {
        const { request, response } = arrive(method)
        listener(request, response)
      }
    },
  ],
  [
    'Bun',
    (server, source) => {
      const handler = serveBun(server, { source })
      return (method) => handler(fetched(method))
    },
  ],
  [
    'Deno',
    (server, source) => {
      const handler = serveDeno(server, { source })
      return (method) => handler(fetched(method))
    },
  ],
]

/** Resolves when all that waits for nothing but promises has gone on. */
const sameTurn = () => new Promise<void>((resolve) => process.nextTick(resolve))

describe('what waits for one turn', () => {
  it('goes on in step: each takes a step before any takes the next one', async () => {
    const wait = createBatches()
    const steps: string[] = []
    const walk = async (name: string): Promise<void> => {
      await wait()
      for (const step of [1, 2]) {
        steps.push(`${name}${step}`)
        await undefined
      }
    }
    await Promise.all([walk('a'), walk('b'), walk('c')])
    expect(steps).toEqual(['a1', 'b1', 'c1', 'a2', 'b2', 'c2'])
  })
})

describe('work that is done together', () => {
  /** How much work is handed on each time. */
  function gathering(): { readonly handedOn: number[]; ask(): void } {
    const handedOn: number[] = []
    const gather = gatherWork((all) => handedOn.push(all.length))
    return { handedOn, ask: () => void gather(() => undefined) }
  }

  it('waits for nobody where it is alone', async () => {
    const { handedOn, ask } = gathering()
    ask()
    await turn()
    expect(handedOn).toEqual([1])
  })

  it('waits on as long as each turn brings more', async () => {
    const { handedOn, ask } = gathering()
    for (const _ of [1, 2, 3]) ask()
    await turn()
    ask()
    await turn()
    expect(handedOn).toEqual([])
    await turn()
    expect(handedOn).toEqual([4])
  })

  it('waits for at most eight turns, and then begins anew', async () => {
    const { handedOn, ask } = gathering()
    ask()
    for (let count = 1; count <= 8; count++) {
      expect(handedOn).toEqual([])
      ask()
      await turn()
    }
    expect(handedOn).toEqual([9])
    ask()
    await turn()
    expect(handedOn).toEqual([9, 1])
  })

  it('does not wait on where there is enough of it', async () => {
    const { handedOn, ask } = gathering()
    for (let count = 1; count < 128; count++) ask()
    await turn()
    expect(handedOn).toEqual([])
    ask()
    await turn()
    expect(handedOn).toEqual([128])
  })

  it('is at most so much of it, and the rest waits for a turn, in its order', async () => {
    const done: number[] = []
    const gather = gatherWork((all) => {
      for (const { apply } of all) apply()()
    })
    const asked = Array.from({ length: 300 }, (_, number) => gather(() => done.push(number)))
    const counts: number[] = []
    for (let count = 1; count <= 4; count++) {
      await turn()
      counts.push(done.length)
    }
    expect(counts).toEqual([128, 256, 300, 300])
    expect(done).toEqual(asked.map((_, number) => number))
    expect(await Promise.all(asked)).toHaveLength(300)
  })
})

describe.each(HOSTS)('what comes to %s', (_, mount) => {
  it('in one turn without a body goes on together in the next one, with its source of the first', async () => {
    const server = createNotingServer()
    let source = 'first turn'
    const send = mount(server, () => source)
    send('GET')
    await sameTurn()
    send('GET')
    await sameTurn()
    expect(server.asked).toEqual([])
    source = 'gone'
    await turn()
    expect(server.asked).toEqual(['first turn', 'first turn'])
  })

  it('with a body goes on at once', async () => {
    const server = createNotingServer()
    mount(server, () => 'first turn')('POST')
    await sameTurn()
    expect(server.asked).toEqual(['first turn'])
  })
})
