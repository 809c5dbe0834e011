import { generateKeyPairSync, type KeyObject } from 'node:crypto'
import { once } from 'node:events'
import { createServer, type RequestListener } from 'node:http'
import type { AddressInfo } from 'node:net'
import { type AuthenticatedClient, createAuthenticatedClient } from '@interledger/open-payments'
import type { JsonWebKey } from 'open-payments-server'

/** A key to sign with. */
export interface ClientKey {
  readonly keyId: string
  readonly privateKey: KeyObject
}

/** A new one, and its public half as a wallet publishes it. */
export function createClientKey(): ClientKey & { readonly jwk: JsonWebKey } {
  const { publicKey, privateKey } = generateKeyPairSync('ed25519')
  const { x = '' } = publicKey.export({ format: 'jwk' })
  const keyId = 'client-key'
  return { keyId, jwk: { kid: keyId, alg: 'EdDSA', kty: 'OKP', crv: 'Ed25519', x }, privateKey }
}

/**
 * The official client, in the name of a wallet address on this machine. It does not hold answers against the published
 * documents, because loading them takes it a second; `test/e2e` has it do that.
 */
export function officialClient(walletAddress: string, { keyId, privateKey }: ClientKey): Promise<AuthenticatedClient> {
  return createAuthenticatedClient({
    walletAddressUrl: walletAddress,
    keyId,
    privateKey,
    useHttp: true,
    logLevel: 'silent',
    validateResponses: false,
  })
}

/** A server whose routes need to know where it listens. */
export async function listen(
  createListener: (url: string) => RequestListener | Promise<RequestListener>,
): Promise<{ readonly url: string; close(): Promise<void> }> {
  const server = createServer().listen(0, '127.0.0.1')
  await once(server, 'listening')
  const url = `http://localhost:${(server.address() as AddressInfo).port}`
  server.on('request', await createListener(url))
  return {
    url,
    async close() {
      const closed = new Promise((resolve) => server.close(resolve))
      server.closeAllConnections()
      await closed
    },
  }
}
