import { alterRequest, type InMemoryRequest, type SigningKey } from 'open-payments-server/testing'
import { cryptography } from './test-wallet.ts'

// The malformed headers of two official clients, made out of a request that is signed as it should be.

/** The PHP SDK leaves the colons out of its byte sequence. */
export function asPhp(request: InMemoryRequest): InMemoryRequest {
  const [signature = ''] = request.headerLines('signature')
  return alterRequest(request, { headers: { signature: [signature.replaceAll(':', '')] } })
}

const RUST_COMPONENTS = ['@method', '@target-uri', 'content-type', 'authorization', 'content-digest', 'content-length']

/** Signs a request as the Rust SDK does: names without quotes in the parameters, with quotes in the base, bare base64. */
export async function asRust(
  request: InMemoryRequest,
  signing: {
    readonly url: string
    readonly key: SigningKey
    readonly created: number
    readonly components?: readonly string[]
  },
): Promise<InMemoryRequest> {
  const { url, key, created, components = RUST_COMPONENTS } = signing
  const names = components.filter((name) => name.startsWith('@') || request.headerLines(name).length > 0)
  const parameters = `(${names.join(' ')});created=${created};keyid="${key.keyId}"`
  const textOf = (name: string): string =>
    name === '@method' ? request.method : name === '@target-uri' ? url : (request.headerLines(name)[0] ?? '')
  const lines = names.map((name) => `"${name}": ${textOf(name)}`)
  const base = [...lines, `"@signature-params": ${parameters}`].join('\n')
  const signature = await cryptography.signEd25519(key.privateKeySeed, new TextEncoder().encode(base))
  const headers = {
    'signature-input': [`sig1=${parameters}`],
    signature: [Buffer.from(signature).toString('base64')],
  }
  return alterRequest(request, { headers })
}
