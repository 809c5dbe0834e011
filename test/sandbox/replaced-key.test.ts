import { isPendingGrant } from '@interledger/open-payments'
import { expect, it, vi } from 'vitest'
import { startSandbox } from '../../examples/sandbox/server.ts'
import { useMovedTime } from '../examples/moved-time.ts'
import { createClientKey, listen, officialClient } from '../examples/official-client.ts'

const { advance } = useMovedTime()

it('T-6 a client with a new key under its old id is refused, and the person who started the sandbox reads why', async () => {
  const print = vi.spyOn(console, 'error').mockReturnValue()
  const sandbox = await startSandbox({ port: 0, database: ':memory:', configuration: {}, warn: () => {} })
  let key = createClientKey()
  const { url, close } = await listen(() => (_, response) => {
    response.setHeader('content-type', 'application/json').end(JSON.stringify({ keys: [key.jwk] }))
  })
  const client = `${url}/client`
  try {
    const { authServer, wallets } = await sandbox.describe()
    const identifier = wallets[0]?.walletAddress ?? ''
    const grant = await (await officialClient(client, key)).grant.request(
      { url: authServer },
      {
        access_token: { access: [{ type: 'outgoing-payment', actions: ['create'], identifier }] },
        interact: { start: ['redirect'] },
      },
    )
    if (!isPendingGrant(grant)) throw new Error('the grant is not pending')
    key = createClientKey()
    // For so long the sandbox still knows the old key.
    advance(60_000)
    const { uri, access_token } = grant.continue
    const continued = (await officialClient(client, key)).grant.continue({ url: uri, accessToken: access_token.value })
    await expect(continued).rejects.toMatchObject({ status: 401 })
    const told = `open-payments-server: client ${client} came with a different key under "${key.keyId}"`
    expect(print).toHaveBeenCalledWith(expect.stringContaining(told))
  } finally {
    print.mockRestore()
    await close()
    await sandbox.stop()
  }
})
