import { invalidRequest, invalidSignature } from '../errors/conditions.ts'
import type { TokenCaller } from '../http/credentials.ts'
import type { Exchange } from '../http/exchange.ts'
import type { Key } from '../ports/storage.ts'
import { toHex } from '../protocol/bytes.ts'
import type { ClientId } from '../protocol/client.ts'
import { idempotencyKeyInput, parseIdempotencyKey } from '../protocol/idempotency-key.ts'
import { lineOf } from '../protocol/signed-request.ts'
import type { SingleUse } from '../records/decide-once.ts'

const FIELD = 'idempotency-key'

/**
 * What a creating request uses up: its signature, and the key in its `Idempotency-Key`, if it names one. A key counts
 * only if the client has signed it: one inserted by somebody else could make a new payment look already made.
 * @spec OUT-12
 */
export async function singleUseOf(exchange: Exchange, { token, proof }: TokenCaller): Promise<SingleUse> {
  const { context, request, bytes } = exchange
  const { claims, nonceClaims } = proof
  const lines = request.headerLines(FIELD)
  if (lines.length === 0) return { claims, nonceClaims }
  const key = parseIdempotencyKey(lines)
  if (key === undefined) throw invalidRequest('Idempotency-Key must be one line of 1 to 256 visible ASCII characters')
  if (lineOf(proof.base, FIELD) !== key) throw invalidSignature(`"${FIELD}" is not covered`)
  const id = await keyIdOf(exchange, token.client, key)
  const bodyHash = toHex(await context.cryptography.sha256(bytes))
  return { claims, nonceClaims, key: { id, bodyHash } }
}

/** The record of the key that a request of a client names, as far as its header tells: nothing is checked. */
export async function keyRecordOf(exchange: Exchange, client: ClientId): Promise<readonly Key[]> {
  const key = parseIdempotencyKey(exchange.request.headerLines(FIELD))
  return key === undefined ? [] : [{ kind: 'idempotency-key', id: await keyIdOf(exchange, client, key) }]
}

function keyIdOf({ context, operation }: Exchange, client: ClientId, key: string): Promise<string> {
  return context.secrets.digest(idempotencyKeyInput(operation, client, key))
}
