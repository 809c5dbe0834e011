import { createServer } from 'node:http'
import { expect, it } from 'vitest'
import { startSandbox } from '../../examples/sandbox/server.ts'
import { keepBusy } from '../support/busy-connection.ts'

it('the sandbox ends while a connection is kept busy, after its next answer', async () => {
  const server = createServer()
  const sandbox = await startSandbox({ port: 0, server, database: ':memory:', configuration: {}, warn: () => {} })
  let asked = 0
  const stopped = new Promise((resolve) => {
    server.on('request', () => {
      asked += 1
      if (asked === 3) resolve(sandbox.stop())
    })
  })
  expect(await keepBusy(`${sandbox.origin}/alice`)).toEqual({ answers: 4, ended: 'ECONNREFUSED' })
  await stopped
})
