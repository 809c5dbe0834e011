import { createPrivateKey } from 'node:crypto'
import { type AuthenticatedClient, createAuthenticatedClient } from '@interledger/open-payments'
import type { SandboxDescription } from '../../examples/sandbox/server.ts'

/** The official client, in the name of the sandbox's own; it holds every answer against the published documents. */
export function sandboxClient({ client }: Pick<SandboxDescription, 'client'>): Promise<AuthenticatedClient> {
  return createAuthenticatedClient({
    walletAddressUrl: client.walletAddress,
    keyId: client.keyId,
    privateKey: createPrivateKey(client.privateKeyPem),
    useHttp: true,
  })
}
