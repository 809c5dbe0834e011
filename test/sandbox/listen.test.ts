import { once } from 'node:events'
import { createServer } from 'node:http'
import { expect, it } from 'vitest'
import { listen } from '../../examples/sandbox/server.ts'

it('a port that is taken is an error, and a later error of a server that listens is not swallowed', async () => {
  const [server, other] = [createServer(), createServer()]
  const port = await listen(server, 0)
  await expect(listen(other, port)).rejects.toMatchObject({ code: 'EADDRINUSE' })
  expect(await listen(server, 0)).toBe(port)
  expect(() => server.emit('error', new Error('too many open files'))).toThrow('too many open files')
  server.close()
  await once(server, 'close')
})
