import { once } from 'node:events'
import { createServer } from 'node:https'
import type { AddressInfo } from 'node:net'
import { afterEach, describe, expect, it } from 'vitest'
import { hostNetwork } from '../../src/runtime/pinned-connection.ts'

// A certificate for name.invalid that nobody vouches for, with its key: made for this test, and good for nothing else.
const KEY = `-----BEGIN PRIVATE KEY-----
MC4CAQAwBQYDK2VwBCIEIL6NiYTPmVbC03BvMRDBwKjbeC5kTQG8zKqKfRf6AZGT
-----END PRIVATE KEY-----`
const CERTIFICATE = `-----BEGIN CERTIFICATE-----
MIIBGDCBy6ADAgECAgEBMAUGAytlcDAXMRUwEwYDVQQDDAxuYW1lLmludmFsaWQw
IBcNMjAwMTAxMDAwMDAwWhgPMjEyMDAxMDEwMDAwMDBaMBcxFTATBgNVBAMMDG5h
bWUuaW52YWxpZDAqMAUGAytlcAMhACoMwBejemTu74QKR4ZsDmHYNo2hWfDfQHBs
GaOFgcwFozowODAXBgNVHREEEDAOggxuYW1lLmludmFsaWQwHQYDVR0OBBYEFPKt
jrxaCtgfc/IXLdjpo+z5jBSLMAUGAytlcANBAB8Z3v8sCgR+AUvHpOn9BJW7Vs33
yGLCwEdS9Zta0UEaKM26spBrEjRWR8Ovevww68SPMAeW85elFfHaSlvNTwo=
-----END CERTIFICATE-----`

const STRICTNESS = 'NODE_TLS_REJECT_UNAUTHORIZED'
const before = process.env[STRICTNESS]

describe('a connection of this host', () => {
  afterEach(() => {
    if (before === undefined) delete process.env[STRICTNESS]
    else process.env[STRICTNESS] = before
  })

  it.each(['1', '0'])(
    'T-2 is not made to a host without a certificate that counts, where the environment says %s',
    async (strictness) => {
      let requests = 0
      const server = createServer({ key: KEY, cert: CERTIFICATE }, (_, response) => {
        requests++
        response.end()
      }).listen(0, '127.0.0.1')
      await once(server, 'listening')
      const { port } = server.address() as AddressInfo
      process.env[STRICTNESS] = strictness
      const { signal } = new AbortController()
      const url = new URL(`https://name.invalid:${port}/`)
      const dialed = hostNetwork()?.dial({
        url,
        addresses: ['127.0.0.1'],
        method: 'GET',
        headers: { accept: 'text/plain' },
        signal,
      })
      await expect(dialed).rejects.toMatchObject({ code: 'DEPTH_ZERO_SELF_SIGNED_CERT' })
      expect(requests).toBe(0)
      server.close()
    },
  )
})
