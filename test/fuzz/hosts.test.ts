import type { HttpResponse } from 'open-payments-server'
import { toNodeListener } from 'open-payments-server/node'
import type { InMemoryRequest } from 'open-payments-server/testing'
import { describe, expect, it } from 'vitest'
import { testServers } from '../support/test-servers.ts'
import { BASE } from '../support/test-wallet.ts'
import { campaign, type Draw, drawUntil, readPlan } from './campaign.ts'
import { type FuzzWorld, fuzzWorld, type Outcome } from './fuzz-world.ts'
import { breakRequest } from './garbage.ts'
import { mutatePlan } from './mutate-plan.ts'
import { faultsOfAnswer } from './oracle.ts'
import { FUZZ_TIMEOUT, inProportion, randomFor, runs, SEED } from './random.ts'
import { converse, LAST, readResponses, toWire } from './wire.ts'

const { listen } = testServers()

/** A request of any kind: right, changed before it was signed, or broken afterwards. */
async function drawAny(draw: Draw): Promise<InMemoryRequest> {
  const { random, world } = draw
  const plan = await draw.plan()
  return drawUntil(async () => {
    const request = await world.sign(random.oneIn(2) ? plan : mutatePlan(plan, world, random))
    return random.oneIn(3) ? breakRequest(request, world, random) : request
  })
}

/** As the Fetch standard lets it be; `undefined` for what it does not. */
function toFetch({ method, target, headers, body }: InMemoryRequest): Request | undefined {
  try {
    const lines = Object.entries(headers).flatMap(([name, values]) =>
      values.map((value): [string, string] => [name, value]),
    )
    const bytes = Uint8Array.from(body)
    return new Request(`${BASE}${target}`, { method, headers: lines, ...(bytes.length > 0 && { body: bytes }) })
  } catch (error) {
    if (error instanceof TypeError) return undefined
    throw error
  }
}

describe('a host', () => {
  it(
    'T-23 SIG-30 that speaks Fetch is answered as the protocol says, whatever it is sent',
    async () => {
      const draw = (one: Draw): Promise<InMemoryRequest> =>
        drawUntil(async () => {
          const request = await drawAny(one)
          return toFetch(request) && request
        })
      const send = (world: FuzzWorld, request: InMemoryRequest): Promise<Outcome> =>
        world.observe(async (): Promise<HttpResponse> => {
          const asked = toFetch(request)
          if (asked === undefined) throw new Error('this cannot be fetched')
          const response = await world.wallet.openPayments.fetch(asked)
          const body = response.body === null ? undefined : await response.text()
          return { status: response.status, headers: Object.fromEntries(response.headers), body }
        })
      const count = runs(6)
      const tally = await campaign(count, 3, draw, send)
      expect(tally.size).toBeGreaterThan(inProportion(20, count, 200))
    },
    FUZZ_TIMEOUT,
  )

  it(
    'T-23 T-36 on node:http answers whatever bytes it is sent, and closes every connection',
    async () => {
      const seed = SEED * 31 + 4
      let world = await fuzzWorld(seed, 0)
      const port = await listen((request, response) => toNodeListener(world.wallet.openPayments)(request, response))
      let answered = 0
      for (let run = 0; run < runs(4); run++) {
        if (run % 50 === 49) world = await fuzzWorld(seed, run)
        const random = randomFor(seed, run)
        const { plan } = readPlan(world, random)
        const count = random.pick([1, 1, 1, 2, 3])
        let bytes = ''
        for (let one = 0; one < count; one++) {
          const request = await drawAny({ random, world, plan })
          // What has no body in its answer cannot be told from what follows it.
          bytes += toWire(request.method === 'HEAD' ? { ...request, method: 'GET' } : request, random)
        }
        let text = ''
        const outcome = await world.observe(async () => {
          text = await converse(port, bytes + LAST, world.wallet.clock)
          return { status: 200, headers: {} }
        })
        const responses = readResponses(text)
        const faults = responses.flatMap((response) =>
          response.isOwn
            ? faultsOfAnswer(response, undefined, world.authServer, 'any server')
            : [400, 408, 413, 417, 431, 100, 101].includes(response.status) && response.body === ''
              ? []
              : [`Node answers ${response.status}`],
        )
        const events = outcome.events.filter(({ type }) => type === 'fault')
        const isRefused = responses.every(({ status }) => status >= 400) && responses.length > count
        if (isRefused && outcome.changes.length > 0) faults.push(`records changed: ${outcome.changes.join(', ')}`)
        if (faults.length > 0 || events.length > 0) {
          throw new Error(
            `FUZZ_SEED=${SEED} (seed ${seed}, run ${run}): ${faults.join('; ')}\n${JSON.stringify([events, text, bytes])}`,
          )
        }
        answered += responses.filter(({ isOwn }) => isOwn).length
        const last = readResponses(await converse(port, LAST, world.wallet.clock))
        expect(last.map(({ status }) => status)).toEqual([200])
      }
      expect(answered).toBeGreaterThanOrEqual(Math.floor(runs(4) / 2))
    },
    FUZZ_TIMEOUT,
  )
})
