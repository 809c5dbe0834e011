import { createRemoteReceivers } from './client/remote-receivers.ts'
import { answerWithin } from './deadline/answer-within.ts'
import { ConfigurationError } from './errors/configuration-error.ts'
import { derivedServerKeys } from './http-signatures/server-keys.ts'
import { type OpenPaymentsOptions, resolveSettings } from './options.ts'
import { createLateAnswers } from './payments/late-answers.ts'
import { createOngoingWork } from './payments/ongoing-work.ts'
import { createDeliveries } from './payments/rail/deliveries.ts'
import type { Clock } from './ports/clock.ts'
import type { Context } from './ports/context.ts'
import type { MoneyEvent, OnEvent, OpenPaymentsEvent } from './ports/events.ts'
import type { Pricing } from './ports/pricing.ts'
import type { RemoteReceivers } from './ports/remote-receivers.ts'
import { isSameAsset } from './protocol/amount.ts'
import { quotaKeysOf } from './protocol/client.ts'
import { createDecideTogether } from './records/decide-together.ts'
import { createExpectedReads } from './records/expected-reads.ts'
import { guardDirectory } from './records/guard-directory.ts'
import { guardKeyResolver } from './records/guard-key-resolver.ts'
import { guardStorage } from './records/guard-storage.ts'
import { createTurns } from './records/in-turn.ts'
import { derivedSecrets } from './runtime/derived-secrets.ts'
import { fetchKeyResolver } from './runtime/fetch-key-resolver.ts'
import { outboundRequests } from './runtime/outbound-requests.ts'
import { hostNetwork } from './runtime/pinned-connection.ts'
import { reportFaults } from './runtime/report-faults.ts'
import { lookupsBudget } from './runtime/request-budget.ts'
import { systemClock } from './runtime/system-clock.ts'
import { tokenBuckets } from './runtime/token-buckets.ts'
import { webCryptography } from './runtime/web-crypto.ts'

/** One to one within an asset; no exchange between assets. */
const EVEN_PRICING: Pricing = {
  price: async ({ from, to }) => (isSameAsset(from, to) ? { rate: '1' } : undefined),
}

/** Puts the parts of one server together: those that the host passes (with guards around them), and the defaults. */
export function createContext(options: OpenPaymentsOptions): Context {
  const { walletAddressServer, lifetimes, limits, policies } = resolveSettings(options)
  const clock = options.clock ?? systemClock()
  const cryptography = options.cryptography ?? webCryptography()
  const onEvent: OnEvent = options.onEvent ?? reportFaults
  const { authServer, resourceServer, ledger, walletAddresses } = options
  const paymentMethods = [...(options.paymentMethods ?? [])]
  const emit = emitBestEffort(onEvent)
  // A copy: keys are derived at the first request, and a careful host may have erased its list by then.
  const secrets = derivedSecrets([...options.secrets], cryptography)
  const own = { clock, cryptography, secrets, serverKeys: derivedServerKeys(secrets, cryptography), emit, policies }
  const keyResolver = options.keyResolver
    ? guardKeyResolver(options.keyResolver, own)
    : fetchKeyResolver({ clock, loopbackHttp: policies.loopbackHttp })
  const storage = guardStorage(options.storage, own)
  const inTurn = createTurns()
  return Object.freeze({
    authServer,
    resourceServer,
    walletAddressServer,
    storage,
    ledger,
    lateAnswers: createLateAnswers(),
    deliveries: createDeliveries(),
    ongoing: createOngoingWork(),
    walletAddresses: guardDirectory(walletAddresses, { ...own, limits }),
    keyResolver,
    cryptography,
    secrets,
    serverKeys: own.serverKeys,
    clock,
    pricing: options.pricing ?? EVEN_PRICING,
    paymentMethods,
    ...(paymentMethods.length > 0 && { remoteReceivers: options.remoteReceivers ?? createDefaultReceivers(own) }),
    lifetimes,
    limits,
    policies,
    chargeCreation: meterCreations(clock, limits.createdPerHour),
    chargeRefusal: tokenBuckets(clock, REFUSALS),
    emit,
    // Money events are only kept if somebody asked for them: the default sink would acknowledge and drop them.
    ...(options.onEvent && { deliverEvent: (event) => deliverInTime(clock, onEvent, event) }),
    inTurn,
    expectedReads: createExpectedReads(),
    decideTogether: createDecideTogether({ storage, clock, emit }, inTurn),
  } satisfies Context)
}

function createDefaultReceivers({
  policies,
  ...own
}: Pick<Context, 'clock' | 'cryptography' | 'secrets' | 'serverKeys' | 'emit' | 'policies'>): RemoteReceivers {
  const network = hostNetwork()
  if (network === undefined) throw new ConfigurationError('remoteReceivers is required on a host without node:https')
  const send = outboundRequests({ clock: own.clock, loopbackHttp: policies.loopbackHttp, network })
  return createRemoteReceivers({ ...own, ...policies, send, charge: lookupsBudget(own.clock) })
}

const HOUR_MILLISECONDS = 3_600_000

/** The most clients and sources that are remembered; a few megabytes. */
const METERED = 10_000

/**
 * How many refused transfers of one incoming payment are recorded per hour: each is a row that is kept for a day.
 * @spec T-37
 */
const REFUSALS = { capacity: 20, refillMilliseconds: HOUR_MILLISECONDS, maximumKeys: 100_000 }

/** @spec T-37 */
function meterCreations(clock: Clock, createdPerHour: number): Context['chargeCreation'] {
  const take = tokenBuckets(clock, {
    capacity: createdPerHour,
    refillMilliseconds: HOUR_MILLISECONDS,
    maximumKeys: METERED,
  })
  return (client, source) => Math.ceil(take(...quotaKeysOf(client, source)) / 1000)
}

const ACKNOWLEDGE_SECONDS = 10

/**
 * Delivers a copy of a money event, since what the host writes into it must not be what is delivered again. A host that does
 * not answer in time counts as having rejected it: otherwise it would hold up everything behind it.
 */
async function deliverInTime(clock: Clock, onEvent: OnEvent, event: MoneyEvent): Promise<void> {
  const answer = await answerWithin(clock, ACKNOWLEDGE_SECONDS * 1000, async () => onEvent(structuredClone(event)))
  if (answer === 'late') throw new Error(`onEvent did not resolve within ${ACKNOWLEDGE_SECONDS} seconds`)
}

/** If the host's event sink fails, the reported request must not fail with it, and the event must not be lost. */
function emitBestEffort(onEvent: OnEvent): Context['emit'] {
  return (event) => {
    try {
      const answer = onEvent(event)
      if (answer !== undefined) Promise.resolve(answer).catch(() => reportAnyway(event))
    } catch {
      reportAnyway(event)
    }
  }
}

function reportAnyway(event: OpenPaymentsEvent): void {
  try {
    reportFaults(event)
  } catch {
    // The error stream is the last place to report to.
  }
}
