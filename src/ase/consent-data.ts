import type { ConsentAccess, ConsentData, ConsentInterval } from '../ports/consent.ts'
import type { Context } from '../ports/context.ts'
import { type Access, limitsOf } from '../protocol/access.ts'
import { formatAmount, storedAmount, type WireAmount } from '../protocol/amount.ts'
import type { Grant } from '../protocol/grant.ts'
import type { Interaction } from '../protocol/interaction.ts'
import { firstWindowStart, lastWindowEnd, parseInterval, windowAt, windowCount } from '../protocol/interval.ts'

/** What the resource owner must be shown, from the server's own records. @spec INT-2 @spec INT-11 */
export function consentData(
  context: Context,
  grant: Grant,
  interaction: Interaction,
  walletAddress: string,
): ConsentData {
  const name = interaction.clientName
  const { origin } = new URL(grant.client)
  const isLocal = origin === context.walletAddressServer
  return {
    client: { id: grant.client, ...(name !== undefined && { name }), origin, isLocal },
    walletAddress,
    access: grant.access.map((access) => consentAccess(context, access)),
    subject: grant.subject,
    ...(grant.finish && { finishHost: hostOf(grant.finish.uri) }),
    expiresAt: interaction.expiresAt,
  }
}

function consentAccess(context: Context, access: Access): ConsentAccess {
  const limits = limitsOf(access)
  const interval = limits?.interval === undefined ? undefined : consentInterval(context, limits.interval)
  return {
    access,
    ...(limits?.debitAmount && { debitAmount: humanAmount(limits.debitAmount) }),
    ...(limits?.receiveAmount && { receiveAmount: humanAmount(limits.receiveAmount) }),
    ...(limits?.receiver !== undefined && { receiver: limits.receiver }),
    ...(interval && { interval }),
  }
}

function humanAmount(amount: WireAmount): string {
  return formatAmount({ ...amount, value: storedAmount(amount.value) })
}

function consentInterval(context: Context, text: string): ConsentInterval | undefined {
  const interval = parseInterval(text)
  if (interval === undefined) return undefined
  const counting = context.policies.intervalCounting
  const windows = windowCount(interval, counting)
  const endsAt = lastWindowEnd(interval, counting)
  const now = context.clock.now()
  const current = windowAt(interval, now, counting)
  const isOver = endsAt !== undefined && endsAt <= now
  // Windows without number that lead up to an end have a last one, but no first.
  const latest = isOver ? windowAt(interval, endsAt - 1, counting) : current
  const startsAt = (windows === undefined ? latest?.startsAt : undefined) ?? firstWindowStart(interval, counting) ?? now
  return {
    interval: text,
    phase: isOver ? 'over' : current === undefined ? 'ahead' : 'current',
    startsAt,
    ...(windows !== undefined && { windows }),
    ...(endsAt !== undefined && { endsAt }),
  }
}

/** The host of a URL; for an app's own scheme the scheme itself, since what follows it names no host. */
function hostOf(uri: string): string {
  const url = new URL(uri)
  return url.protocol === 'https:' || url.protocol === 'http:' ? url.host : url.protocol
}
