import type { VerifiedSignature } from '../http-signatures/verify-signature.ts'
import { inOrderOfTime } from '../protocol/identifiers.ts'
import { startVersion } from '../records/change.ts'
import { decide } from '../records/decide.ts'
import type { ReplayClaimChange, ReplayClaims } from '../records/decide-once.ts'
import { CLOCK_ERROR_MILLISECONDS } from '../records/retention.ts'
import type { ClientKey } from './client-key.ts'
import type { Exchange } from './exchange.ts'

/** Prepares the claims that make the signatures of a request single-use; none if nothing about them is single-use. */
export async function claimsOf(
  exchange: Exchange,
  signatures: readonly VerifiedSignature<ClientKey>[],
): Promise<ReplayClaims> {
  const { secrets, clock, lifetimes } = exchange.context
  const expiresAt = clock.now() + (lifetimes.signatureAgeSeconds + lifetimes.signatureSkewSeconds + 1) * 1000
  const singleUse = isSingleUse(exchange)
  // Kept a day longer, in case a clock is wrong, but only if a quota limits their number: repeating any other request
  // does nothing new. @spec T-37
  const dueAt = singleUse && exchange.hasQuota ? expiresAt + CLOCK_ERROR_MILLISECONDS : expiresAt
  // Maps by id, because two signatures may use the same nonce, and a commit may name each record only once.
  const bases = new Map<string, ReplayClaimChange>()
  const nonces = new Map<string, ReplayClaimChange>()
  const claim = async (claims: Map<string, ReplayClaimChange>, used: string, timePrefix = ''): Promise<void> => {
    const id = timePrefix + (await secrets.digest(used))
    const version = startVersion(exchange.context)
    claims.set(id, { action: 'insert', kind: 'replay-claim', version, value: { id, expiresAt }, dueAt })
  }
  for (const { candidate, base, signer } of signatures) {
    // The claim is on the base, not on the signature's bytes or label: padding bits or relabelling would change those.
    // @spec SIG-25
    // Its id begins with the time of the signature, so that new claims are inserted at one place of the index. The id
    // of a nonce has no time: the nonce may return with another `created`, and must then get the same id. It may also return
    // once its claim was swept; the next claim must not be taken for that one, by a sweep that has just read it.
    if (singleUse) await claim(bases, `base\n${signer.thumbprint}\n${base}`, inOrderOfTime(candidate.created * 1000))
    if (candidate.nonce !== undefined) await claim(nonces, `nonce\n${signer.thumbprint}\n${candidate.nonce}`)
  }
  const nonceClaims = [...nonces.values()]
  return { claims: [...bases.values(), ...nonceClaims], nonceClaims }
}

/** @spec SIG-24 @spec SIG-27 */
function isSingleUse(exchange: Exchange): boolean {
  if (exchange.operation === 'create-outgoing-payment') return true
  return exchange.context.policies.replay === 'all' && !['GET', 'HEAD'].includes(exchange.request.method)
}

/**
 * Stores the replay claims of a request without an effect to commit them with. If one exists already, this is a replay,
 * and it throws.
 * @spec SIG-23 @spec SIG-26
 */
export async function claimSignature(exchange: Exchange, { claims }: ReplayClaims): Promise<void> {
  await decide(exchange.context, async () => ({ answer: undefined }), { claims })
}
