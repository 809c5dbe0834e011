import { describe, expect, it } from 'vitest'
import type { KeyResolver } from '../../src/ports/key-resolver.ts'
import { fetchKeyResolver } from '../../src/runtime/fetch-key-resolver.ts'
import { hostNetwork } from '../../src/runtime/pinned-connection.ts'
import { freePort } from '../support/free-port.ts'
import { gate } from '../support/gate.ts'
import { holdUp } from '../support/hold-up.ts'
import { testServers } from '../support/test-servers.ts'
import { heldClock, publishedKey, UNFETCHABLE } from './fake-network.ts'

const { listen } = testServers()

function resolverOn(clock = heldClock()): KeyResolver {
  return fetchKeyResolver({ clock, loopbackHttp: true })
}

describe('on the network of this host', () => {
  it('KEY-6 fetches a key set and a name', async () => {
    const keys = [publishedKey('a')]
    const seen: unknown[] = []
    const port = await listen((request, response) => {
      seen.push([request.method, request.url, request.headers.host, request.headers['accept-encoding']])
      const isKeySet = request.url === '/alice/jwks.json'
      const id = `http://localhost:${port}/alice`
      response.setHeader('content-type', 'application/json')
      response.end(JSON.stringify(isKeySet ? { keys } : { id, publicName: 'Alice' }))
    })
    const resolver = resolverOn()
    expect(await resolver.keySet(`http://localhost:${port}/alice`)).toMatchObject({ ok: true, keys: [{ kid: 'a' }] })
    expect(await resolver.publicName(`http://localhost:${port}/alice`)).toBe('Alice')
    expect(seen).toEqual([
      ['GET', '/alice/jwks.json', `localhost:${port}`, 'identity'],
      ['GET', '/alice', `localhost:${port}`, 'identity'],
    ])
  })

  it('needs no clock of its own, and admits http only where it is told to', async () => {
    const keys = [publishedKey('a')]
    const port = await listen((_request, response) => {
      response.setHeader('content-type', 'application/json')
      response.end(JSON.stringify({ keys }))
    })
    const address = `http://localhost:${port}/alice`
    expect(await fetchKeyResolver({ loopbackHttp: true }).keySet(address)).toMatchObject({ ok: true })
    expect(await fetchKeyResolver().keySet(address)).toEqual({ ok: false, reason: 'invalid', detail: UNFETCHABLE })
  })

  it('T-2 connects to the pinned address, whatever the name means', async () => {
    const port = await listen((request, response) => response.end(request.headers.host))
    const { signal } = new AbortController()
    const url = new URL(`http://name.invalid:${port}/`)
    const reply = await hostNetwork()?.dial({
      url,
      addresses: ['127.0.0.1'],
      method: 'GET',
      headers: { accept: 'text/plain' },
      signal,
    })
    const body: Uint8Array[] = []
    for await (const chunk of reply?.body ?? []) body.push(chunk)
    expect(reply?.status).toBe(200)
    expect(Buffer.concat(body).toString()).toBe(`name.invalid:${port}`)
  })

  it('T-3 does not follow a redirect', async () => {
    let reached = 0
    const target = await listen((_, response) => {
      reached += 1
      response.setHeader('content-type', 'application/json').end('{"keys":[]}')
    })
    const port = await listen((_, response) => {
      response.writeHead(302, { location: `http://localhost:${target}/alice/jwks.json` }).end()
    })
    expect(await resolverOn().keySet(`http://localhost:${port}/alice`)).toEqual({
      ok: false,
      reason: 'unreachable',
      detail: 'status 302',
    })
    expect(reached).toBe(0)
  })

  it('T-4 hears what arrived in time, although the deadline passed while nothing could be heard', async () => {
    const clock = heldClock()
    const port = await listen((_request, response) => {
      response.setHeader('content-type', 'application/json')
      response.end(JSON.stringify({ keys: [publishedKey('a')] }))
      // The next turn begins with the timers that are due, and only then looks for what has arrived.
      setImmediate(() => {
        setTimeout(() => clock.advance(3000))
        holdUp(5)
      })
    })
    const answer = await resolverOn(clock).keySet(`http://localhost:${port}/alice`)
    expect(answer).toMatchObject({ ok: true, keys: [{ kid: 'a' }] })
  })

  it('T-4 closes a connection that drips, after 3 seconds', async () => {
    const clock = heldClock()
    const { open: dripping, opened: isDripping } = gate()
    const { open: closed, opened: isClosed } = gate()
    const port = await listen((request, response) => {
      request.socket.on('close', closed)
      response.setHeader('content-type', 'application/json')
      response.write('{', () => dripping())
    })
    const answer = resolverOn(clock).keySet(`http://localhost:${port}/alice`)
    await isDripping
    clock.advance(3000)
    expect(await answer).toEqual({ ok: false, reason: 'unreachable', detail: 'no answer in time' })
    await isClosed
  })

  it('T-4 closes a connection whose body has no end', async () => {
    const { open: closed, opened: isClosed } = gate()
    const mebibyte = Buffer.alloc(1_048_576, ' ')
    const port = await listen((request, response) => {
      request.socket.on('close', closed)
      response.setHeader('content-type', 'application/json')
      const writeMore = (error?: Error | null): void => {
        if (error == null) response.write(mebibyte, writeMore)
      }
      writeMore()
    })
    expect(await resolverOn().keySet(`http://localhost:${port}/alice`)).toEqual({
      ok: false,
      reason: 'invalid',
      detail: 'its body is no uncompressed application/json of at most 64 KiB',
    })
    await isClosed
  })

  it('says that a host is unreachable where nothing listens, and where it hangs up', async () => {
    const port = await listen((request) => request.socket.destroy())
    expect(await resolverOn().keySet(`http://localhost:${port}/alice`)).toEqual({
      ok: false,
      reason: 'unreachable',
      detail: 'socket hang up',
    })
    const free = await freePort()
    expect(await resolverOn().keySet(`http://127.0.0.1:${free}/bob`)).toEqual({
      ok: false,
      reason: 'unreachable',
      detail: `connect ECONNREFUSED 127.0.0.1:${free}`,
    })
    // Two addresses: Node's error has no message then.
    expect(await resolverOn().keySet(`http://localhost:${free}/bob`)).toMatchObject({
      detail: expect.stringContaining('ECONNREFUSED'),
    })
  })
})
