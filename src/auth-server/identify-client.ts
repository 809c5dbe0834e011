import { unknownClient } from '../errors/conditions.ts'
import { because, clientKeySet, hasAnyOf, type KeyHolder } from '../http/client-key.ts'
import { type Proof, proveSignature, signaturesOf } from '../http/credentials.ts'
import { parseBody } from '../http/endpoint.ts'
import type { Exchange } from '../http/exchange.ts'
import type { SignatureCandidate } from '../http-signatures/signature-candidate.ts'
import { directedIdentity, IdentifiedRequest } from '../protocol/client.ts'
import { parsePublicKey } from '../protocol/json-web-key.ts'
import { canonicalWalletAddress } from '../protocol/wallet-address.ts'
import { thumbprintOf } from '../records/thumbprint.ts'

/** The client of a grant request, and the proof that it sent it. */
export interface ClientCaller {
  readonly holder: KeyHolder
  readonly proof: Proof
}

/**
 * Identifies who requests a grant: the client named in the body, proved by its key. Everything that needs no network is
 * checked first; an `Authorization` header left over from an old grant is not used as a token.
 * @spec SIG-34 @spec KEY-5 @spec KEY-14
 */
export async function identifyClient(exchange: Exchange): Promise<ClientCaller> {
  const candidates = await signaturesOf(exchange)
  const { client } = parseBody(IdentifiedRequest, exchange.json())
  const holder =
    'jwk' in client
      ? await holderOfKey(exchange, client.jwk)
      : await holderOfAddress(exchange, client.walletAddress, candidates)
  const proof = await proveSignature(exchange, candidates, holder)
  exchange.noteCaller(holder.client)
  return { holder, proof }
}

async function holderOfKey(exchange: Exchange, jwk: unknown): Promise<KeyHolder> {
  const parsed = parsePublicKey(jwk, { requireAlg: true })
  if (!parsed.ok) throw unknownClient(`client.jwk: ${parsed.reason}`)
  const thumbprint = await thumbprintOf(exchange.context, parsed.key)
  return { client: directedIdentity(thumbprint), clientKey: parsed.key, keys: [] }
}

async function holderOfAddress(
  exchange: Exchange,
  text: string,
  candidates: readonly SignatureCandidate[],
): Promise<KeyHolder> {
  const { context } = exchange
  const client = canonicalWalletAddress(text, context.policies)
  if (client === undefined) throw unknownClient('client is not a wallet address')
  const keyIds = candidates.map(({ keyId }) => keyId)
  const keySet = await clientKeySet(context, client, keyIds)
  if (!keySet.ok) {
    const description = `the key set at ${client}/jwks.json is ${keySet.reason}`
    throw unknownClient(description, `${description}${because(keySet)}`)
  }
  if (!hasAnyOf(keySet.keys, keyIds)) throw unknownClient('keyid names no key of the client')
  return { client, keys: [], currentKeys: keySet.keys }
}
